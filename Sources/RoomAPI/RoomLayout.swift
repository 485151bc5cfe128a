public import Compositing

/// The layout of a room, for participants without a choice of their own.
///
/// As JSON it is `{"layout":"speaker"}`, with a participant `{"layout":"pinned","participant":"k3v9…"}`, and with
/// either `"fit":"cover"` and `"hide":["k3v9…"]`. docs/layouts.md shows each layout.
public struct RoomLayout: Hashable, Sendable {
    public var mode: LayoutMode
    /// The fit of cameras; nil: the layout's own.
    public var fit: LayerFit.Mode?
    /// The participants that are in nobody's picture, by their identifiers in URLs.
    public var hidden: [String]

    public init(_ mode: LayoutMode, fit: LayerFit.Mode? = nil, hidden: [String] = []) {
        self.mode = mode
        self.fit = fit
        self.hidden = hidden
    }

    public static let grid = RoomLayout(.grid)
    public static let speaker = RoomLayout(.speaker)
    public static let sideBySide = RoomLayout(.sideBySide)
    public static let pictureInPicture = RoomLayout(.pictureInPicture)
    public static let presentation = RoomLayout(.presentation)
    public static func pinned(participant: String) -> RoomLayout { RoomLayout(.pinned(participant: participant)) }
    public static func solo(participant: String) -> RoomLayout { RoomLayout(.solo(participant: participant)) }
}

extension RoomLayout: Codable {
    public init(from decoder: any Decoder) throws {
        mode = try LayoutMode(from: decoder)
        let options = try LayoutOptions(from: decoder)
        fit = options.fit
        hidden = options.hidden
    }

    public func encode(to encoder: any Encoder) throws {
        try mode.encode(to: encoder)
        try LayoutOptions(fit: fit, hidden: hidden).encode(to: encoder)
    }
}

/// A layout in a message of a relay whose version may be later, as far as this version can read it: the JSON of a
/// `RoomLayout` or a `ParticipantLayout`. Whom it hides is not to be seen, whatever else it says.
public struct ReadableLayout: Hashable, Sendable {
    /// Nil: this version does not know it.
    public var mode: LayoutMode?
    public var fit: LayerFit.Mode?
    public var hidden: [String]
    /// Nil in a room's.
    public var selfView: SelfView?

    public init(_ layout: RoomLayout) { (mode, fit, hidden) = (layout.mode, layout.fit, layout.hidden) }

    public init(_ layout: ParticipantLayout) {
        (mode, fit, hidden, selfView) = (layout.mode, layout.fit, layout.hidden, layout.selfView)
    }

    /// The room's layout, with this mode in place of one that cannot be read.
    public func layout(or other: LayoutMode) -> RoomLayout { RoomLayout(mode ?? other, fit: fit, hidden: hidden) }

    /// The participant's layout, with the room's mode in place of one that cannot be read.
    public var ownLayout: ParticipantLayout { ParticipantLayout(mode, fit: fit, hidden: hidden, selfView: selfView) }
}

extension ReadableLayout: Codable {
    private enum CodingKeys: String, CodingKey {
        case fit, selfView
        case hidden = "hide"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        mode = try? LayoutMode(from: decoder)
        fit = (try? container.decodeChoice(forKey: .fit)) ?? nil
        selfView = (try? container.decodeChoice(forKey: .selfView)) ?? nil
        hidden = try container.decodeIfPresent([String].self, forKey: .hidden) ?? []
    }

    public func encode(to encoder: any Encoder) throws {
        try mode?.encode(to: encoder)
        try LayoutOptions(fit: fit, hidden: hidden).encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(selfView, forKey: .selfView)
    }
}
