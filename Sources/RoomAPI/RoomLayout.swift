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

/// A room's layout in a message of a relay whose version may be later, as far as this version can read it: the JSON of a
/// `RoomLayout`. Whom it hides nobody is to see, whatever else it says.
public struct ReadableLayout: Hashable, Sendable {
    /// Nil: this version does not know it.
    public var mode: LayoutMode?
    public var fit: LayerFit.Mode?
    public var hidden: [String]

    public init(_ layout: RoomLayout) { (mode, fit, hidden) = (layout.mode, layout.fit, layout.hidden) }

    /// The layout with this mode in place of one that cannot be read.
    public func layout(or other: LayoutMode) -> RoomLayout { RoomLayout(mode ?? other, fit: fit, hidden: hidden) }
}

extension ReadableLayout: Codable {
    private enum CodingKeys: String, CodingKey {
        case fit
        case hidden = "hide"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        mode = try? LayoutMode(from: decoder)
        fit = (try? container.decodeChoice(forKey: .fit)) ?? nil
        hidden = try container.decodeIfPresent([String].self, forKey: .hidden) ?? []
    }

    public func encode(to encoder: any Encoder) throws {
        try mode?.encode(to: encoder)
        try LayoutOptions(fit: fit, hidden: hidden).encode(to: encoder)
    }
}
