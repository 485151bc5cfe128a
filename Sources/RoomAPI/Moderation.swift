/// The person who did something in a room, as events name them.
public struct RoomActor: Codable, Hashable, Sendable {
    /// The id of a member; nil: somebody who is not in the room.
    public var participant: String?
    public var name: String

    public init(participant: String? = nil, name: String) {
        self.participant = participant
        self.name = name
    }
}

/// A moderator's change to one member. As JSON: `{"microphone":"muted"}`; a missing field changes nothing.
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

    private enum CodingKeys: String, CodingKey {
        case microphone, camera, role
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        microphone = try container.decodeChoice(forKey: .microphone)
        camera = try container.decodeChoice(forKey: .camera)
        role = try container.decodeChoice(forKey: .role)
    }
}

/// A change of the conditions for entering a room. As JSON: `{"locked":true}`; a missing field changes nothing.
public struct RoomEntry: Codable, Hashable, Sendable {
    /// True if no new member may enter.
    public var locked: Bool?
    /// True if new members wait until a moderator lets them in.
    public var lobby: Bool?
    /// The PIN that new members must give; empty: none. The relay never returns it.
    public var pin: String?

    public init(locked: Bool? = nil, lobby: Bool? = nil, pin: String? = nil) {
        self.locked = locked
        self.lobby = lobby
        self.pin = pin
    }
}

/// The conditions for entering a room, as the relay returns them.
public struct RoomEntryState: Codable, Hashable, Sendable {
    public var locked: Bool
    public var lobby: Bool
    public var pin: Bool

    public init(locked: Bool = false, lobby: Bool = false, pin: Bool = false) {
        self.locked = locked
        self.lobby = lobby
        self.pin = pin
    }
}

/// A person who waits in a room's lobby.
public struct WaitingPerson: Codable, Hashable, Sendable {
    public var id: String
    public var name: String

    public init(id: String, name: String) {
        self.id = id
        self.name = name
    }
}

/// The outcome of waiting in a lobby.
public enum LobbyState: String, Codable, Sendable {
    case waiting, admitted, refused
}

/// A moderator's act, for the room's subscribers.
public struct ModerationEvent: Codable, Hashable, Sendable {
    public enum Action: String, Codable, CaseIterable, Sendable {
        case muted, askedToUnmute, microphoneAllowed, cameraOff, cameraAllowed, roleChanged, removed, spotlight
        case handsLowered, entryChanged, admitted, refused, ended
    }

    public var action: Action
    /// The id of the member, or of the person in the lobby, that it concerns.
    public var participant: String?
    public var by: RoomActor

    public init(_ action: Action, participant: String? = nil, by: RoomActor) {
        self.action = action
        self.participant = participant
        self.by = by
    }
}
