/// Turns numbers that wrap, such as sequence numbers and timestamps, into numbers that do not. Inlined, because other
/// modules call it for each packet.
public struct NumberUnwrapper<Number: FixedWidthInteger & UnsignedInteger & Sendable>: Hashable, Sendable {
    @usableFromInline var latest: Int64?

    @inlinable public init() { latest = nil }

    /// The last number handed out.
    @inlinable public var last: Int64? { latest }

    /// The number nearest to the last one that has these low bits; the first is taken as it is.
    @inlinable public mutating func unwrap(_ number: Number) -> Int64 {
        let unwrapped = peek(number)
        latest = unwrapped
        return unwrapped
    }

    /// Returns the result of `unwrap` without remembering it.
    @inlinable public func peek(_ number: Number) -> Int64 {
        guard let latest else { return Int64(number) }
        let ahead = number &- Number(truncatingIfNeeded: latest)
        return ahead > Number.max / 2 ? latest &- Int64(0 &- ahead) : latest &+ Int64(ahead)
    }
}

/// Unwraps the sequence numbers of RTP.
public typealias SequenceUnwrapper = NumberUnwrapper<UInt16>
/// Unwraps RTP timestamps.
public typealias TimestampUnwrapper = NumberUnwrapper<UInt32>
