public import Compositing
public import MediaCore

/// A room as those who begin to follow it are told: what the events before would add up to.
public struct RoomState: Encodable, Hashable, Sendable {
    /// The largest tile in which anybody sees a picture; see `RoomEvent.Kind.tileChanged`.
    public struct Tile: Encodable, Hashable, Sendable {
        public var participant: String
        public var content: SourceContent
        public var width: Int
        public var height: Int

        public init(participant: String, content: SourceContent, size: VideoDimensions) {
            self.participant = participant
            self.content = content
            width = size.width
            height = size.height
        }
    }

    public var id: String
    public var layout: RoomLayout
    public var overlays: OverlayList
    /// Who is shown as the speaker; nil until someone spoke.
    public var activeSpeaker: String?
    public var participants: [ParticipantSummary]
    public var tiles: [Tile]

    public init(
        id: String, layout: RoomLayout = .grid, overlays: OverlayList = OverlayList(), activeSpeaker: String? = nil,
        participants: [ParticipantSummary] = [], tiles: [Tile] = []
    ) {
        self.id = id
        self.layout = layout
        self.overlays = overlays
        self.activeSpeaker = activeSpeaker
        self.participants = participants
        self.tiles = tiles
    }
}

extension Room {
    var state: RoomState {
        RoomState(
            id: id, layout: layout, overlays: overlays, activeSpeaker: activeSpeaker?.publicID,
            participants: participants.map(summary(of:)),
            tiles: participants.flatMap { participant in
                SourceContent.allCases.compactMap { content in
                    participant.announcedTiles[content].map {
                        RoomState.Tile(participant: participant.publicID, content: content, size: $0)
                    }
                }
            })
    }
}
