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

/// What someone is in a room. Each role has a set of permissions, which a token may change.
public enum AccessRole: String, Codable, CaseIterable, Sendable {
    case moderator, presenter, participant, viewer, recorder

    /// What the role may do, unless a token says otherwise.
    public var permissions: Set<Permission> {
        switch self {
        case .moderator: [.watch, .microphone, .camera, .screen, .arrange, .moderate, .record, .inspect]
        case .presenter: [.watch, .microphone, .camera, .screen, .arrange]
        case .participant: [.watch, .microphone, .camera]
        case .viewer: [.watch]
        case .recorder: [.watch, .record]
        }
    }

    /// Whether the role is not kept waiting in a lobby.
    public var skipsLobby: Bool { self == .moderator || self == .presenter || self == .recorder }
}
