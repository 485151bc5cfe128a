/// Turns 32-bit RTP timestamps into ones that do not wrap.
public struct TimestampUnwrapper: Hashable, Sendable {
    /// The last timestamp handed out.
    public private(set) var last: Int64?

    public init() {}

    /// Returns the timestamp with these low 32 bits that is nearest to the last one; the first is returned unchanged.
    public mutating func unwrap(_ timestamp: UInt32) -> Int64 {
        let unwrapped = peek(timestamp)
        last = unwrapped
        return unwrapped
    }

    /// Returns the result of `unwrap` without remembering it.
    public func peek(_ timestamp: UInt32) -> Int64 {
        guard let last else { return Int64(timestamp) }
        let difference = Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: last))
        return last &+ Int64(difference)
    }
}
