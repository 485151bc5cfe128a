public import MediaCore

/// What a source shows at this moment.
public enum TileContent: Sendable {
    /// Its newest picture, and how it is to be turned to stand upright. A stale one is old: its sender has stalled, and
    /// the tile is dimmed to say so.
    case picture(PixelBuffer, rotation: VideoRotation = .none, isStale: Bool)
    /// Its sender has not shown anything yet, or has stopped: the tile is a flat colour with the name's initial.
    case placeholder
}

/// One source as the compositor sees it.
public struct CompositionSource: Sendable {
    public var id: SourceID
    /// The name whose initial and colour a placeholder shows.
    public var name: String
    public var content: TileContent

    public init(id: SourceID, name: String, content: TileContent) {
        self.id = id
        self.name = name
        self.content = content
    }
}
