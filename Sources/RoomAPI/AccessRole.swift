/// One thing that people in a room may or may not do.
public enum Permission: String, Codable, CaseIterable, Sendable {
    /// Receive picture and audio, and read the room's state and events.
    case watch
    /// Be heard.
    case microphone
    /// Be seen.
    case camera
    /// Share a screen.
    case screen
    /// Set the room's layout and overlays, and others' layouts.
    case arrange
    /// Admit, mute, remove and promote others; lock the room; end it.
    case moderate
    /// Record the room.
    case record
    /// See debug views; with a token for all rooms, also the list of rooms and `/metrics`.
    case inspect
}

/// A member's role in a room. Each role has a set of permissions, which a token may change.
public enum AccessRole: String, Codable, CaseIterable, Sendable {
    case moderator, presenter, participant, viewer, recorder

    /// The role's permissions, unless a token changes them.
    public var permissions: Set<Permission> {
        switch self {
        case .moderator: [.watch, .microphone, .camera, .screen, .arrange, .moderate, .record, .inspect]
        case .presenter: [.watch, .microphone, .camera, .screen, .arrange]
        case .participant: [.watch, .microphone, .camera]
        case .viewer: [.watch]
        case .recorder: [.watch, .record]
        }
    }

    /// True if the role does not wait in a lobby.
    public var skipsLobby: Bool { self == .moderator || self == .presenter || self == .recorder }
}
