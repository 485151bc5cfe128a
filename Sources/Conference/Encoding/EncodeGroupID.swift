/// Names an encode group: a number that its room never gives out twice.
struct EncodeGroupID: Hashable, Comparable, Sendable {
    var rawValue: Int

    static func < (left: EncodeGroupID, right: EncodeGroupID) -> Bool { left.rawValue < right.rawValue }
}
