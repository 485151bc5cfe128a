/// The identity of a participant, to whom streams belong: a number that its room never uses twice.
public struct ParticipantID: Hashable, Comparable, Sendable {
    public var rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public static func < (left: ParticipantID, right: ParticipantID) -> Bool { left.rawValue < right.rawValue }
}

extension ParticipantID: CustomStringConvertible {
    public var description: String { String(rawValue) }
}

extension ParticipantID: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: UInt64) { self.init(rawValue: value) }
}
