/// Turns 16-bit sequence numbers into ones that do not wrap.
public struct SequenceUnwrapper: Hashable, Sendable {
    /// The last number handed out.
    public private(set) var last: Int64?

    public init() {}

    /// The number nearest to the last one that has these low 16 bits; the first is taken as it is.
    public mutating func unwrap(_ sequenceNumber: UInt16) -> Int64 {
        let unwrapped = peek(sequenceNumber)
        last = unwrapped
        return unwrapped
    }

    /// Returns the result of `unwrap` without remembering it.
    public func peek(_ sequenceNumber: UInt16) -> Int64 {
        guard let last else { return Int64(sequenceNumber) }
        let difference = Int16(bitPattern: sequenceNumber &- UInt16(truncatingIfNeeded: last))
        return last &+ Int64(difference)
    }
}
