public import Compositing
public import RoomAPI

/// A change of a room that someone asks for. Participants are named by their public ids.
public enum RoomCommand: Sendable {
    /// Changes the layout for all participants that have not chosen their own.
    case setLayout(RoomLayout)
    /// Changes one participant's view; nil: everything as in the room.
    case setParticipantLayout(ParticipantLayout?, participant: String)
    /// Changes the overlays that lie above everybody's picture.
    case setOverlays(OverlayList)
    /// Gives a participant an avatar, which stands in for their camera while there is no picture of it; nil: none.
    case setAvatar(ImageAsset?, participant: String)
    /// Sets the state of a participant's microphone and camera.
    case setMediaState(MediaState, participant: String)
}
