/// The arrivals among the last 64 numbers of a sequence: the newest and the 63 before it.
public struct RecentNumbers: Sendable {
    public enum Verdict: Sendable {
        /// The number had not come before.
        case new
        /// The number has come before.
        case repeated
        /// The number is too old to be known.
        case unknown
    }

    public static let count: Int64 = 64

    /// The highest number that has come; nil before the first.
    public private(set) var newest: Int64?
    /// A bit for each number, the newest the lowest.
    private var bits: UInt64 = 0

    public init() {}

    public mutating func insert(_ number: Int64) -> Verdict {
        guard let newest, number <= newest else {
            let step = newest.map { UInt64(bitPattern: number &- $0) } ?? UInt64(Self.count)
            bits = step < UInt64(Self.count) ? bits << step | 1 : 1
            newest = number
            return .new
        }
        let age = UInt64(bitPattern: newest &- number)
        guard age < UInt64(Self.count) else { return .unknown }
        let bit: UInt64 = 1 << age
        defer { bits |= bit }
        return bits & bit == 0 ? .new : .repeated
    }
}
