public import PeerConnection
public import RoomAPI

/// A participant's description for the others in the room.
public struct ParticipantSummary: Codable, Hashable, Sendable {
    /// The participant's id in URLs.
    public var id: String
    public var name: String
    public var role: ParticipantRole
    /// True if the participant sends audio and its microphone is on.
    public var microphone: Bool
    /// True if the participant sends video and its camera is on.
    public var camera: Bool
    /// True if the participant's screen is shown.
    public var screenShare = false
    public var connection = ConnectionState.new
    /// True if the participant speaks at present.
    public var isSpeaking = false
    /// The participant's own choice of layout; nil: it follows the room.
    public var layout: ParticipantLayout?
    /// True if an avatar replaces the camera.
    public var avatar = false
    /// The participant's role in the room.
    public var accessRole = AccessRole.presenter
    /// True if a hand is raised.
    public var hand = false
    /// True if a moderator has muted the microphone, or turned the camera off.
    public var muted = false
    public var cameraOff = false
}
