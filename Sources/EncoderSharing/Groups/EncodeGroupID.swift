/// Names an encode group: a number that its room never gives out twice.
package struct EncodeGroupID: Hashable, Comparable, Sendable {
    package var rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static func < (left: EncodeGroupID, right: EncodeGroupID) -> Bool { left.rawValue < right.rawValue }
}
