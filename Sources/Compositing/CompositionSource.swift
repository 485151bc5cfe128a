public import MediaCore

/// What a source shows at this moment.
public enum TileContent: Sendable {
    /// Its newest picture. A stale one is old: its sender has stalled, and the tile is dimmed to say so.
    case picture(PixelBuffer, isStale: Bool)
    /// Its sender has not shown anything yet, or has stopped: the tile is a flat colour with the name's initial.
    case placeholder
}

/// One participant as the compositor sees it.
public struct CompositionSource: Sendable {
    public var id: ParticipantID
    /// The name whose initial and colour a placeholder shows.
    public var name: String
    public var content: TileContent

    public init(id: ParticipantID, name: String, content: TileContent) {
        self.id = id
        self.name = name
        self.content = content
    }
}
