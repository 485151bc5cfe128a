/// The level of overload control: each is a measure in addition to those of the levels before it.
public enum OverloadLevel: String, CaseIterable, Codable, Comparable, Sendable {
    /// No measure is taken.
    case normal
    /// Encoders use a cheaper preset.
    case cheaperPreset = "cheaper-preset"
    /// Encoders use the cheapest preset.
    case cheapestPreset = "cheapest-preset"
    /// Some of those who see a picture of their own see one together, themselves in it: a quarter, then a quarter of
    /// the others, and so on.
    case fewerPersonalViews = "fewer-personal-views"
    /// Everyone sees the same picture with themselves in it, except participants that asked otherwise.
    case sharedView = "shared-view"
    /// Half as many encoders.
    case halfEncoders = "half-encoders"
    /// One encoder for each picture that there is.
    case oneEncoder = "one-encoder"
    /// Two thirds of the pictures a second.
    case reducedFrameRate = "reduced-frame-rate"
    /// Half of the pictures a second.
    case halfFrameRate = "half-frame-rate"
    /// Further participants are refused.
    case refusingJoins = "refusing-joins"

    /// The name in metrics and JSON.
    public var name: String { rawValue }

    /// The number in metrics, counted from zero.
    public var number: Int { Self.allCases.prefix { $0 != self }.count }

    /// The pictures a second, of as many as are configured; nil if the level leaves them, or they are few already.
    package func frameRate(of configured: Int) -> Int? {
        switch self {
        case .reducedFrameRate where configured >= 15: configured * 2 / 3
        case .halfFrameRate where configured >= 10: configured / 2
        default: nil
        }
    }

    public static func < (left: OverloadLevel, right: OverloadLevel) -> Bool { left.number < right.number }

    /// The measure, in words that follow "the relay is short of time: "; nil for none.
    package var measure: String? {
        switch self {
        case .normal: nil
        case .cheaperPreset: "encoders take less time"
        case .cheapestPreset: "encoders take the least time"
        case .fewerPersonalViews: "some participants see the same picture"
        case .sharedView: "everyone sees the same picture"
        case .halfEncoders: "half as many encoders run"
        case .oneEncoder: "one encoder runs for each picture"
        case .reducedFrameRate: "there are two thirds of the pictures a second"
        case .halfFrameRate: "there are half of the pictures a second"
        case .refusingJoins: "no further participants are admitted"
        }
    }
}
