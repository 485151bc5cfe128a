public import PeerConnection
public import RoomAPI

/// A participant as the others in the room are told of them.
public struct ParticipantSummary: Codable, Hashable, Sendable {
    /// The participant's id in URLs.
    public var id: String
    public var name: String
    public var role: ParticipantRole
    /// Whether the participant sends audio and says that the microphone is on.
    public var microphone: Bool
    /// Whether the participant sends video and says that the camera is on.
    public var camera: Bool
    /// Whether a screen of theirs is shown.
    public var screenShare: Bool
    public var connection: ConnectionState
    /// Whether the participant speaks just now.
    public var isSpeaking: Bool
    /// The participant's own choice of layout; nil: it follows the room.
    public var layout: ParticipantLayout?
    /// Whether an avatar of theirs stands in for their camera.
    public var avatar: Bool

    public init(
        id: String, name: String, role: ParticipantRole, microphone: Bool, camera: Bool, screenShare: Bool = false,
        connection: ConnectionState = .new, isSpeaking: Bool = false, layout: ParticipantLayout? = nil,
        avatar: Bool = false
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
    }
}
