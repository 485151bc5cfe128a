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
    /// Gives a participant an avatar, which replaces their camera while there is no picture of it; nil for none.
    case setAvatar(ImageAsset?, participant: String)
    /// Sets the state of a participant's microphone and camera.
    case setMediaState(MediaState, participant: String)
    /// Begins a recording of this id.
    case startRecording(id: String)
    /// Ends the recording of this id.
    case endRecording(id: String, reason: RecordingEndReason)
}
