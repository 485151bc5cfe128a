/// Who did something in a room, as events name them.
public struct RoomActor: Codable, Hashable, Sendable {
    /// The id of a member; nil: somebody who is not in the room.
    public var participant: String?
    public var name: String

    public init(participant: String? = nil, name: String) {
        self.participant = participant
        self.name = name
    }
}

/// What a moderator does to one member. As JSON: `{"microphone":"muted"}`; what is missing stays as it is.
public struct MemberModeration: Codable, Hashable, Sendable {
    public enum Microphone: String, Codable, CaseIterable, Sendable {
        /// Is not heard, whatever the client does.
        case muted
        /// May turn the microphone on by themselves, and is asked to.
        case askedToUnmute = "ask-to-unmute"
        /// Is heard again.
        case allowed
    }

    public enum Camera: String, Codable, CaseIterable, Sendable {
        /// Is not seen, whatever the client does.
        case off
        /// Is seen again.
        case allowed
    }

    public var microphone: Microphone?
    public var camera: Camera?
    /// Makes the member something else: a presenter may share a screen.
    public var role: AccessRole?

    public init(microphone: Microphone? = nil, camera: Camera? = nil, role: AccessRole? = nil) {
        self.microphone = microphone
        self.camera = camera
        self.role = role
    }
}

/// Who may enter a room. As JSON: `{"locked":true}`; what is missing stays as it is.
public struct RoomEntry: Codable, Hashable, Sendable {
    /// Whether nobody new may enter.
    public var locked: Bool?
    /// Whether those who come wait until a moderator lets them in.
    public var lobby: Bool?
    /// What those who come have to know; empty: nothing. Never told.
    public var pin: String?

    public init(locked: Bool? = nil, lobby: Bool? = nil, pin: String? = nil) {
        self.locked = locked
        self.lobby = lobby
        self.pin = pin
    }
}

/// Who may enter a room, as it is told.
public struct RoomEntryState: Codable, Hashable, Sendable {
    public var locked: Bool
    public var lobby: Bool
    /// Whether there is a PIN.
    public var pin: Bool

    public init(locked: Bool = false, lobby: Bool = false, pin: Bool = false) {
        self.locked = locked
        self.lobby = lobby
        self.pin = pin
    }
}

/// Somebody who waits in a room's lobby.
public struct WaitingPerson: Codable, Hashable, Sendable {
    public var id: String
    public var name: String

    public init(id: String, name: String) {
        self.id = id
        self.name = name
    }
}

/// What became of waiting in a lobby.
public enum LobbyState: String, Codable, Sendable {
    case waiting, admitted, refused
}

/// Something that a moderator did, for those who follow the room.
public struct ModerationEvent: Codable, Hashable, Sendable {
    public enum Action: String, Codable, CaseIterable, Sendable {
        case muted, askedToUnmute, microphoneAllowed, cameraOff, cameraAllowed, roleChanged, removed, spotlight
        case handsLowered, entryChanged, admitted, refused, ended
    }

    public var action: Action
    /// Whom it is about: the id of a member, or of somebody in the lobby.
    public var participant: String?
    public var by: RoomActor

    public init(_ action: Action, participant: String? = nil, by: RoomActor) {
        self.action = action
        self.participant = participant
        self.by = by
    }
}
