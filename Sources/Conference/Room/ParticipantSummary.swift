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
    public var screenShare: Bool
    public var connection: ConnectionState
    /// True if the participant speaks at present.
    public var isSpeaking: Bool
    /// The participant's own choice of layout; nil: it follows the room.
    public var layout: ParticipantLayout?
    /// True if an avatar replaces the camera.
    public var avatar: Bool
    /// The participant's role in the room.
    public var accessRole: AccessRole
    /// True if a hand is raised.
    public var hand: Bool
    /// True if a moderator has muted the microphone, or turned the camera off.
    public var muted: Bool
    public var cameraOff: Bool

    public init(
        id: String, name: String, role: ParticipantRole, microphone: Bool, camera: Bool, screenShare: Bool = false,
        connection: ConnectionState = .new, isSpeaking: Bool = false, layout: ParticipantLayout? = nil,
        avatar: Bool = false, accessRole: AccessRole = .presenter, hand: Bool = false, muted: Bool = false,
        cameraOff: Bool = false
    ) {
        self.id = id
        self.name = name
        self.role = role
        self.microphone = microphone
        self.camera = camera
        self.screenShare = screenShare
        self.connection = connection
        self.isSpeaking = isSpeaking
        self.layout = layout
        self.avatar = avatar
        self.accessRole = accessRole
        self.hand = hand
        self.muted = muted
        self.cameraOff = cameraOff
    }
}
