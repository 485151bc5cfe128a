public import Compositing
public import RoomAPI

/// A requested change of a room. Participants are named by their public ids.
public enum RoomCommand: Sendable {
    /// Changes the layout for all participants that have not chosen their own.
    case setLayout(RoomLayout)
    /// Changes one participant's view; nil: everything as in the room.
    case setParticipantLayout(ParticipantLayout?, participant: String)
    /// Changes the overlays that lie above everybody's picture.
    case setOverlays(OverlayList)
    /// Counts a change of a participant's avatar before its picture is read, which takes long.
    case prepareAvatar(participant: String)
    /// Gives a participant an avatar, which replaces their camera while there is no picture of it; nil for none.
    case setAvatar(Avatar?, participant: String)
    /// Sets the state of a participant's microphone and camera.
    case setMediaState(MediaState, participant: String)
    /// Begins a recording of this id.
    case startRecording(id: String, RecordingRequest)
    case endRecording(id: String, reason: RecordingEndReason)
    /// Has a picture of the room made for a stream of this id.
    case startStream(id: String, CompositeSettings)
    /// Ends the picture of that stream; nothing happens if there is none.
    case endStream(id: String)
    /// Has a picture of the room made for an output of this id.
    case startOutput(id: String, name: String?, CompositeSettings)
    /// Takes the news of an output that goes on.
    case setOutput(id: String, OutputStatus.State, reason: OutputStatus.Reason?)
    case endOutput(id: String, reason: OutputStatus.Reason)
    /// Makes a film or stream that is opened a member of the room, with this id.
    ///
    /// - publisher: Who pushes it to the relay; nil: the relay gets it by itself, as it was told.
    case startPlayer(id: String, name: String, publisher: StreamPublisher?)
    /// Takes the news of a player that goes on.
    case setPlayer(PlayerStatus)
    case endPlayer(id: String, reason: PlayerStatus.Reason)
    /// Does what a moderator asks for.
    case moderate(Moderation, by: RoomActor)

    /// A moderator's request.
    public enum Moderation: Codable, Hashable, Sendable {
        case member(MemberModeration, participant: String)
        /// Removes a member.
        ///
        /// - keepOut: Whether they may not come back. That holds for their identity, or without one for their address.
        case remove(participant: String, keepOut: Bool)
        /// Shows one member large to all members that have not chosen otherwise; nil: none.
        case spotlight(participant: String?)
        case lowerHands
        /// Changes the conditions for entering.
        ///
        /// - pin: What the PIN is checked by, as `RoomAccess` tells it; empty: there is none any more; nil: as it was.
        case setEntry(locked: Bool?, lobby: Bool?, pin: [UInt8]?)
        /// Admits or refuses a person in the lobby.
        case answer(waiting: String, isAdmitted: Bool)
        /// Ends the room for everybody.
        case end
    }
}
