public import Compositing
public import RoomAPI

/// A change in a room, for those who follow it.
public struct RoomEvent: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case participantJoined(ParticipantSummary)
        /// Something of the summary is no longer what was last told.
        case participantChanged(ParticipantSummary)
        case participantLeft(id: String)
        /// The speaker: the participant who speaks, or spoke last; nil after that one has left.
        case activeSpeakerChanged(id: String?)
        /// The room's layout. What is chosen for single participants is in their summaries.
        case layoutChanged(RoomLayout)
        /// Images, texts and clocks above everybody's picture.
        case overlaysChanged(OverlayList)
        /// A picture is seen at another size, or its sender is asked for another rate.
        case tileChanged(RoomTile)
        /// An encoder could not be made, or did not encode: those who share it see no new pictures for now.
        case encoderFailed(EncoderFailure)
        /// The last participant has left. A room of this name that begins later is another.
        case closed
    }

    public var room: String
    public var kind: Kind

    public init(room: String, kind: Kind) {
        self.room = room
        self.kind = kind
    }
}
