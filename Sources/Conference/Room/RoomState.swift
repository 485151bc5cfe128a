public import Compositing
public import MediaCore

/// A room as those who begin to follow it are told: what the events before would add up to.
public struct RoomState: Encodable, Hashable, Sendable {
    /// The largest tile in which anybody sees a picture: more samples than these are sent in vain. Zero by zero while
    /// nobody sees it. A larger one is told at once, a smaller one when it has been so for a few seconds.
    public struct Tile: Encodable, Hashable, Sendable {
        public var participant: String
        public var content: SourceContent
        public var width: Int
        public var height: Int
        /// The video rate that the sender is asked for, in bit/s: as much as the best receiver can show.
        public var bitRate: Int64

        public init(participant: String, content: SourceContent, size: VideoDimensions, bitRate: BitRate) {
            self.participant = participant
            self.content = content
            width = size.width
            height = size.height
            self.bitRate = bitRate.bitsPerSecond
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
                    participant.demands[content].map { tile($0, content, of: participant) }
                }
            })
    }
}
