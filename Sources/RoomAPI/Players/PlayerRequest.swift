/// A film or stream that is to become a member of a room, as `POST /rooms/{room}/players` takes it:
/// `{"url":"talk.mp4","name":"Talk","loop":true}`.
public struct PlayerRequest: Hashable, Sendable {
    /// A file of the relay's folder, or a URL, which may have a secret in it.
    public var url: String
    /// The name on its tile; nil: chosen from the URL.
    public var name: String?
    public var settings: PlayerSettings
    /// Where it begins, in seconds from the beginning of the film; nil: there.
    public var position: Double?

    public init(
        url: String, name: String? = nil, settings: PlayerSettings = PlayerSettings(), position: Double? = nil
    ) {
        self.url = url
        self.name = name
        self.settings = settings
        self.position = position
    }
}

extension PlayerRequest: Codable {
    private enum CodingKeys: String, CodingKey {
        case url, name
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        url = try container.decode(String.self, forKey: .url)
        name = try container.decodeShownName(forKey: .name)
        let change = try PlayerChange(from: decoder)
        settings = PlayerSettings().changed(by: change)
        position = change.position
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(url, forKey: .url)
        try container.encodeIfPresent(name, forKey: .name)
        var change = PlayerChange(settings)
        change.position = position
        try change.encode(to: encoder)
    }
}

/// The settings with which a film is played.
public struct PlayerSettings: Hashable, Sendable {
    /// Seconds of the film that pass in one second. At another rate than 1 it is silent.
    public var rate: Double
    /// The factor of its samples.
    public var volume: Double
    /// True if it begins again at its end.
    public var loop: Bool
    public var isPaused: Bool

    public static let rates = 0.25...4.0
    public static let volumes = 0.0...4.0
    /// Seconds: a year.
    public static let positions = 0.0...31_536_000.0

    public init(rate: Double = 1, volume: Double = 1, loop: Bool = false, isPaused: Bool = false) {
        self.rate = rate
        self.volume = volume
        self.loop = loop
        self.isPaused = isPaused
    }

    /// The settings with what a change names.
    public func changed(by change: PlayerChange) -> PlayerSettings {
        PlayerSettings(
            rate: change.rate ?? rate, volume: change.volume ?? volume, loop: change.loop ?? loop,
            isPaused: change.paused ?? isPaused)
    }
}

/// A change of a player, as `PUT /rooms/{room}/players/{player}` takes it: `{"paused":true}`. Fields that are nil stay
/// as they are.
public struct PlayerChange: Hashable, Sendable {
    public var paused: Bool?
    /// Seconds from the beginning of the film.
    public var position: Double?
    public var rate: Double?
    public var volume: Double?
    public var loop: Bool?

    public init(
        paused: Bool? = nil, position: Double? = nil, rate: Double? = nil, volume: Double? = nil, loop: Bool? = nil
    ) {
        self.paused = paused
        self.position = position
        self.rate = rate
        self.volume = volume
        self.loop = loop
    }

    init(_ settings: PlayerSettings) {
        self.init(
            paused: settings.isPaused, rate: settings.rate, volume: settings.volume, loop: settings.loop)
    }
}

extension PlayerChange: Codable {
    private enum CodingKeys: String, CodingKey {
        case paused, position, rate, volume, loop
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func number(_ key: CodingKeys, in range: ClosedRange<Double>) throws -> Double? {
            guard let value = try container.decodeIfPresent(Double.self, forKey: key) else { return nil }
            guard range.contains(value) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container,
                    debugDescription:
                        "\"\(key.rawValue)\" must be from \(range.lowerBound) to \(range.upperBound)")
            }
            return value
        }
        self.init(
            paused: try container.decodeIfPresent(Bool.self, forKey: .paused),
            position: try number(.position, in: PlayerSettings.positions),
            rate: try number(.rate, in: PlayerSettings.rates), volume: try number(.volume, in: PlayerSettings.volumes),
            loop: try container.decodeIfPresent(Bool.self, forKey: .loop))
    }
}
