public import MediaCore

/// A source's content at this moment.
public enum TileContent: Sendable {
    /// Its newest picture, with the rotation that makes it upright. A stale picture is old, because its sender has
    /// stalled; its tile is dimmed.
    case picture(PixelBuffer, rotation: VideoRotation = .none, isStale: Bool)
    /// The source has not sent a picture yet, or has stopped: the tile is a flat colour with the name's initial, or
    /// with an avatar.
    case placeholder(avatar: ImageAsset? = nil)
}

/// The decoration of a source's tile: a label with the source's name, and a border while its participant speaks.
public struct TileDecoration: Hashable, Sendable {
    /// The icons before the name.
    public var icons: LabelIcons
    public var isSpeaking: Bool

    public init(icons: LabelIcons = [], isSpeaking: Bool = false) {
        self.icons = icons
        self.isSpeaking = isSpeaking
    }
}

/// One source as the compositor sees it.
public struct CompositionSource: Sendable {
    public var id: SourceID
    /// The name, of which a placeholder shows the initial and a colour, and a label all that there is room for.
    public var name: String
    public var content: TileContent
    /// The decoration of the tile; nil for none.
    public var decoration: TileDecoration?

    public init(id: SourceID, name: String, content: TileContent, decoration: TileDecoration? = nil) {
        self.id = id
        self.name = name
        self.content = content
        self.decoration = decoration
    }
}

extension CompositionSource {
    /// Returns true if the source looks like another. Pictures are compared by identity.
    func looksLike(_ other: CompositionSource) -> Bool {
        guard decoration == other.decoration, name == other.name else { return false }
        switch (content, other.content) {
        case (.placeholder(let left), .placeholder(let right)):
            return left == right
        case (.picture(let left, let rotation, let isStale), .picture(let right, let otherRotation, let otherIsStale)):
            return left === right && rotation == otherRotation && isStale == otherIsStale
        default:
            return false
        }
    }
}
