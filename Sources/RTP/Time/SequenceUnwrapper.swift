/// Turns 16-bit sequence numbers into ones that do not wrap.
public struct SequenceUnwrapper: Hashable, Sendable {
    /// The last number handed out.
    public private(set) var last: Int64?

    public init() {}

    /// Returns the number with these low 16 bits that is nearest to the last one; the first number is returned
    /// unchanged.
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
