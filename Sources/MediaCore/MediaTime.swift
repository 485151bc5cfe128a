/// A rational media timestamp: `value / timescale` seconds, or one of four non-numeric values.
///
/// Sums, products and comparisons are exact across timescales (128-bit intermediates) if a 64-bit value and a 32-bit
/// timescale can hold the result; otherwise they are rounded once, and `hasBeenRounded` is true. A result beyond even
/// whole seconds becomes an infinity. Nothing traps.
///
/// The non-numeric values, their order and their arithmetic are those of Core Media's CMTime: `negativeInfinity` <
/// every number < `indefinite` < `positiveInfinity` < `invalid`; each of them equals itself.
public struct MediaTime: Sendable {
    /// The count of `1 / timescale` seconds; the largest and smallest `Int64` for the infinities, zero for other
    /// non-numeric times.
    public let value: Int64
    /// Units per second: positive for a number, zero otherwise.
    public let timescale: Int32
    let kind: Kind
    /// True if the time, or one from which it was computed, could not be represented exactly. Equality ignores it.
    public let hasBeenRounded: Bool

    /// The kind of a time; raw values are in the order of comparison.
    enum Kind: UInt8 {
        case negativeInfinity
        case numeric
        case indefinite
        case positiveInfinity
        case invalid
    }

    /// Creates the time `value / timescale` seconds; an invalid one if the timescale is not positive.
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
    /// An unknown time, or the result of an impossible computation.
    public static let invalid = MediaTime(.invalid)
    /// A time that is not known yet, such as the duration of a live stream.
    public static let indefinite = MediaTime(.indefinite)
    /// A time later than every number.
    public static let positiveInfinity = MediaTime(.positiveInfinity)
    /// A time earlier than every number.
    public static let negativeInfinity = MediaTime(.negativeInfinity)

    /// True if the time is anything but `invalid`.
    public var isValid: Bool { kind != .invalid }
    public var isNumeric: Bool { kind == .numeric }
    public var isIndefinite: Bool { kind == .indefinite }
    public var isPositiveInfinity: Bool { kind == .positiveInfinity }
    public var isNegativeInfinity: Bool { kind == .negativeInfinity }
    /// True if the time is one of the infinities.
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
    /// `3000/90000`, or the name of a non-numeric value.
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
