public import MediaCore

/// One picture of a whole room with the mix of all, encoded for files and streams and not for a member's network.
///
/// As JSON it has the keys of `ParticipantLayout`, and `"size":"1280x720"` and `"bitRate":2500000`, each optional.
public struct CompositeSettings: Hashable, Sendable {
    /// The layout; empty: as the room's, whatever that is at the time.
    public var layout: ParticipantLayout
    /// The size of the pictures; nil: the relay's canvas.
    public var size: VideoDimensions?
    /// The bitrate of the video; nil: the most that the relay sends a participant.
    public var bitRate: BitRate?

    /// The sizes that can be chosen, of each side, and of both together.
    public static let sides = 128...3840
    public static let largestArea = 3840 * 2160
    /// The same for people.
    public static let sizeRule =
        "even sides of \(sides.lowerBound) to \(sides.upperBound), and no more pixels than 3840x2160"
    public static let bitRates = BitRate.kilobits(100)...BitRate.megabits(20)

    public init(layout: ParticipantLayout = ParticipantLayout(), size: VideoDimensions? = nil, bitRate: BitRate? = nil)
    {
        self.layout = layout
        self.size = size
        self.bitRate = bitRate
    }

    /// Reads a size such as `1280x720`.
    ///
    /// - Returns: Nil if it is no size, or one that cannot be chosen.
    public static func size(_ text: String) -> VideoDimensions? {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1], self.sides.contains(width),
            self.sides.contains(height), width.isMultiple(of: 2), height.isMultiple(of: 2),
            width * height <= largestArea
        else { return nil }
        return VideoDimensions(width: width, height: height)
    }
}

extension CompositeSettings: Codable {
    private enum CodingKeys: String, CodingKey {
        case size, bitRate
    }

    public init(from decoder: any Decoder) throws {
        layout = try ParticipantLayout(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let text = try container.decodeIfPresent(String.self, forKey: .size) {
            guard let size = Self.size(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .size, in: container,
                    debugDescription: "\"size\" is \"\(text)\"; use \(Self.sizeRule), as 1280x720")
            }
            self.size = size
        }
        if let bits = try container.decodeIfPresent(Int64.self, forKey: .bitRate) {
            let rate = BitRate(bitsPerSecond: bits)
            guard Self.bitRates.contains(rate) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .bitRate, in: container,
                    debugDescription: "\"bitRate\" is \(bits); use \(Self.bitRates.lowerBound.bitsPerSecond) to "
                        + "\(Self.bitRates.upperBound.bitsPerSecond) bits per second")
            }
            bitRate = rate
        }
    }

    public func encode(to encoder: any Encoder) throws {
        try layout.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(size?.description, forKey: .size)
        try container.encodeIfPresent(bitRate?.bitsPerSecond, forKey: .bitRate)
    }
}

/// A request for a recording: `{"mode":"composite","layout":"speaker","size":"1280x720"}`, or nothing for tracks.
public struct RecordingRequest: Codable, Hashable, Sendable {
    public var mode: RecordingManifest.Mode
    /// The picture of a composite.
    public var composite: CompositeSettings

    public init(mode: RecordingManifest.Mode = .tracks, composite: CompositeSettings = CompositeSettings()) {
        self.mode = mode
        self.composite = composite
    }

    private enum CodingKeys: String, CodingKey {
        case mode
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        mode = try container.decodeChoice(forKey: .mode) ?? .tracks
        composite = try CompositeSettings(from: decoder)
        guard mode == .composite || composite == CompositeSettings() else {
            throw DecodingError.dataCorruptedError(
                forKey: .mode, in: container,
                debugDescription: "a layout, \"size\" and \"bitRate\" are for \"mode\":\"composite\"")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(mode, forKey: .mode)
        if mode == .composite { try composite.encode(to: encoder) }
    }
}
