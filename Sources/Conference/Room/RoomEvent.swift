public import Compositing
public import RoomAPI

/// A change in a room, for its subscribers.
public struct RoomEvent: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case participantJoined(ParticipantSummary)
        /// The summary differs from the last one sent.
        case participantChanged(ParticipantSummary)
        case participantLeft(id: String)
        /// The participant that speaks, or spoke last; nil after it has left.
        case activeSpeakerChanged(id: String?)
        /// The room's layout. The choices of single participants are in their summaries.
        case layoutChanged(RoomLayout)
        /// Images, texts and clocks above everybody's picture.
        case overlaysChanged(OverlayList)
        /// A picture is seen at another size, or its sender is asked for another rate.
        case tileChanged(RoomTile)
        /// An encoder could not be made, or did not encode: its receivers see no new pictures for now.
        case encoderFailed(EncoderFailure)
        /// The room is recorded from now on, or not any more.
        case recordingChanged(RecordingStatus)
        /// The room's live stream has begun, or has ended.
        case streamChanged(StreamStatus)
        /// An output of the room connects, is live, waits, or has ended.
        case outputChanged(OutputStatus)
        /// A player of the room is opened, plays, is paused, waits, or has ended.
        case playerChanged(PlayerStatus)
        /// A moderator did something.
        case moderated(ModerationEvent)
        /// A moderator did something that another relay of the room has carried out. That relay tells webhooks of it.
        case moderatedElsewhere(ModerationEvent)
        /// The conditions for entering, or the people in the lobby, have changed.
        case entryChanged(RoomEntryState, waiting: Int)
        /// The relay is about to end: its cluster has others, where clients are to join before they leave here.
        case moved
        /// The last participant has left. A room of this name that begins later is another.
        case closed
    }

    public var room: String
    public var kind: Kind
}
