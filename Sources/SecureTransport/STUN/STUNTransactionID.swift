/// The 96 bits that match a STUN response to its request (RFC 8489, section 5).
public struct STUNTransactionID: Hashable, Sendable {
    /// The first 32 bits.
    public var high: UInt32
    /// The other 64 bits.
    public var low: UInt64

    public init(high: UInt32, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A new one, uniformly random as the RFC asks.
    /// - Parameter generator: Outside tests a cryptographic one, `SystemRandomNumberGenerator`.
    public init(using generator: inout some RandomNumberGenerator) {
        self.init(high: generator.next(), low: generator.next())
    }
}
