/// A rational media timestamp: `value / timescale` seconds, or one of four values that are no number.
///
/// Sums, products and comparisons are exact across timescales (128-bit intermediates) wherever a 64-bit value and a
/// 32-bit timescale can hold the result; otherwise they are rounded once, and `hasBeenRounded` says so. What is beyond
/// even whole seconds becomes an infinity. Nothing traps.
///
/// The values that are no number, their order and what arithmetic makes of them are those of Core Media's CMTime:
/// `negativeInfinity` < every number < `indefinite` < `positiveInfinity` < `invalid`; each of them equals itself.
public struct MediaTime: Sendable {
    /// The count of `1 / timescale` seconds; the largest and smallest `Int64` for the infinities, otherwise zero where
    /// the time is no number.
    public let value: Int64
    /// Units per second: positive for a number, zero otherwise.
    public let timescale: Int32
    let kind: Kind
    /// Whether the time, or one that it was computed from, could not be represented exactly. Equality does not see it.
    public let hasBeenRounded: Bool

    /// What a time is; raw values are in the order of comparison.
    enum Kind: UInt8 {
        case negativeInfinity
        case numeric
        case indefinite
        case positiveInfinity
        case invalid
    }

    /// Creates the time `value / timescale` seconds; an invalid one where the timescale is not positive.
    public init(value: Int64, timescale: Int32) {
        guard timescale > 0 else {
            self = .invalid
            return
        }
        self.init(value: value, timescale: timescale, hasBeenRounded: false)
    }

    init(value: Int64, timescale: Int32, hasBeenRounded: Bool) {
        self.value = value
        self.timescale = timescale
        self.hasBeenRounded = hasBeenRounded
        kind = .numeric
    }

    init(_ kind: Kind) {
        value =
            switch kind {
            case .negativeInfinity: .min
            case .positiveInfinity: .max
            case .numeric, .indefinite, .invalid: 0
            }
        timescale = kind == .numeric ? 1 : 0
        self.kind = kind
        hasBeenRounded = false
    }

    public static let zero = MediaTime(value: 0, timescale: 1)
    /// No time at all: unknown, or the result of what cannot be computed.
    public static let invalid = MediaTime(.invalid)
    /// A time that is not known yet, such as the duration of a live stream.
    public static let indefinite = MediaTime(.indefinite)
    /// Later than every number.
    public static let positiveInfinity = MediaTime(.positiveInfinity)
    /// Earlier than every number.
    public static let negativeInfinity = MediaTime(.negativeInfinity)

    /// Whether the time is anything but `invalid`.
    public var isValid: Bool { kind != .invalid }
    /// Whether the time is a number.
    public var isNumeric: Bool { kind == .numeric }
    public var isIndefinite: Bool { kind == .indefinite }
    public var isPositiveInfinity: Bool { kind == .positiveInfinity }
    public var isNegativeInfinity: Bool { kind == .negativeInfinity }
    /// Whether the time is one of the infinities.
    public var isInfinite: Bool { isPositiveInfinity || isNegativeInfinity }
}

extension MediaTime: Comparable, Hashable {
    public static func == (left: MediaTime, right: MediaTime) -> Bool {
        guard left.isNumeric, right.isNumeric else { return left.kind == right.kind }
        if left.timescale == right.timescale { return left.value == right.value }
        return Int128(left.value) * Int128(right.timescale) == Int128(right.value) * Int128(left.timescale)
    }

    public static func < (left: MediaTime, right: MediaTime) -> Bool {
        guard left.isNumeric, right.isNumeric else { return left.kind.rawValue < right.kind.rawValue }
        if left.timescale == right.timescale { return left.value < right.value }
        return Int128(left.value) * Int128(right.timescale) < Int128(right.value) * Int128(left.timescale)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        guard isNumeric else { return }
        let divisor = greatestCommonDivisor(value.magnitude, UInt64(timescale))
        hasher.combine(value / Int64(divisor))
        hasher.combine(Int64(timescale) / Int64(divisor))
    }
}

extension MediaTime: CustomStringConvertible {
    /// `3000/90000`, or what the time is if no number.
    public var description: String {
        switch kind {
        case .numeric: "\(value)/\(timescale)"
        case .invalid: "invalid"
        case .indefinite: "indefinite"
        case .positiveInfinity: "+infinity"
        case .negativeInfinity: "-infinity"
        }
    }
}
