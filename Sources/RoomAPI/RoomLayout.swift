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
