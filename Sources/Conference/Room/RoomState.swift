public import Compositing
import MediaCore
public import RoomAPI

/// The state of a room for new subscribers: the combined effect of all earlier events.
public struct RoomState: Encodable, Hashable, Sendable {
    public var id: String
    public var layout = RoomLayout.grid
    public var overlays = OverlayList()
    /// The participant shown as the speaker; nil until one spoke.
    public var activeSpeaker: String?
    public var participants: [ParticipantSummary] = []
    public var tiles: [RoomTile] = []
    /// The recording that goes on; nil: there is none.
    public var recording: RecordingStatus?
    /// The live stream; nil: there is none.
    public var stream: StreamStatus?
    /// The outputs that go on.
    public var outputs: [OutputStatus] = []
    /// The players that go on.
    public var players: [PlayerStatus] = []
    /// The conditions for entering.
    public var entry = RoomEntryState()
    /// The number of people in the lobby.
    public var waiting = 0
}

extension Room {
    var state: RoomState {
        RoomState(
            id: id, layout: layout, overlays: overlays, activeSpeaker: activeSpeaker?.publicID,
            participants: participants.filter { !$0.grants.isHidden }.map(summary(of:)),
            tiles: participants.flatMap { participant in
                SourceContent.allCases.compactMap { content in
                    tile(of: SourceID(participant: participant.id, content: content), participant)
                }
            }, recording: recording.map { RecordingStatus(id: $0, state: .recording) },
            stream: stream.map { _ in StreamStatus(.live, ofRoom: id) }, outputs: outputs,
            players: participants.compactMap(\.player), entry: entryState.conditions, waiting: entryState.waiting)
    }
}
