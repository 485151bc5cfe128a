/// The level of overload control: each is a measure in addition to those of the levels before it.
public enum OverloadLevel: Int, CaseIterable, Comparable, Sendable {
    /// No measure is taken.
    case normal
    /// Encoders use a cheaper preset.
    case cheaperPreset
    /// Encoders use the cheapest preset.
    case cheapestPreset
    /// Some of those who see a picture of their own see one together, themselves in it: a quarter, then a quarter of
    /// the others, and so on.
    case fewerPersonalViews
    /// Everyone sees the same picture with themselves in it, except participants that asked otherwise.
    case sharedView
    /// Half as many encoders.
    case halfEncoders
    /// One encoder for each picture that there is.
    case oneEncoder
    /// Two thirds of the pictures a second.
    case reducedFrameRate
    /// Half of the pictures a second.
    case halfFrameRate
    /// Further participants are refused.
    case refusingJoins

    public static func < (left: OverloadLevel, right: OverloadLevel) -> Bool { left.rawValue < right.rawValue }

    /// The name in metrics and JSON.
    public var name: String {
        switch self {
        case .normal: "normal"
        case .cheaperPreset: "cheaper-preset"
        case .cheapestPreset: "cheapest-preset"
        case .fewerPersonalViews: "fewer-personal-views"
        case .sharedView: "shared-view"
        case .halfEncoders: "half-encoders"
        case .oneEncoder: "one-encoder"
        case .reducedFrameRate: "reduced-frame-rate"
        case .halfFrameRate: "half-frame-rate"
        case .refusingJoins: "refusing-joins"
        }
    }

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

extension OverloadLevel: Codable {
    public init(from decoder: any Decoder) throws {
        let name = try decoder.singleValueContainer().decode(String.self)
        guard let level = Self.allCases.first(where: { $0.name == name }) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "'\(name)' is no level of overload control"))
        }
        self = level
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}
