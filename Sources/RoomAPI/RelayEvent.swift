package import Foundation

/// An event on a relay, as webhooks and the event log report it. `docs/webhooks.md` describes it.
public struct RelayEvent: Codable, Hashable, Sendable {
    /// The kinds of events, by their names in JSON.
    public enum Kind: String, Codable, CaseIterable, Sendable {
        /// The first participant joined a room.
        case roomStarted
        /// The last participant has left.
        case roomEnded
        case participantJoined
        case participantLeft
        /// Another participant speaks; at most one event in two seconds for a room.
        case activeSpeakerChanged
        case joinRefused
        /// A moderator did something.
        case moderated
        /// A recording began or ended.
        case recordingChanged
        /// The live stream of a room has begun, or has ended.
        case streamChanged
        /// An output of a room connects, is live, waits, or has ended.
        case outputChanged
        /// A player of a room is opened, plays, is paused, waits, or has ended.
        case playerChanged
        /// A request was refused, because its sender may not do this or did not prove who it is.
        case requestRefused
        /// Overload control does more or less than before.
        case overloadChanged
    }

    /// A participant, or a person whose join was refused.
    public struct Person: Codable, Hashable, Sendable {
        /// The id in URLs; nil for one whose join was refused.
        public var id: String?
        /// As the client gave it, unchecked.
        public var name: String
        public var role: ParticipantRole
        /// The IP address that the join came from; nil where it is not known.
        public var address: String?

        public init(id: String?, name: String, role: ParticipantRole, address: String?) {
            self.id = id
            self.name = name
            self.role = role
            self.address = address
        }
    }

    /// A change of the overload level.
    public struct Overload: Codable, Hashable, Sendable {
        public var from: String
        public var to: String
        public var seatsLeft: Int?

        public init(from: String, to: String, seatsLeft: Int?) {
            self.from = from
            self.to = to
            self.seatsLeft = seatsLeft
        }
    }

    public struct RefusedRequest: Codable, Hashable, Sendable {
        public var method: String
        /// The route, such as `/rooms/:room/layout`: keys that stand in paths are not told.
        public var path: String
        public var status: Int
        /// The IP address that it came from; nil where it is not known.
        public var address: String?

        public init(method: String, path: String, status: Int, address: String?) {
            self.method = method
            self.path = path
            self.status = status
            self.address = address
        }
    }

    /// Unlike that of any other event of any relay: an event that comes twice has the same.
    public var id: String
    public var type: Kind
    /// The time of the event: RFC 3339, UTC, with milliseconds.
    public var time: String
    public var room: String?
    /// Tells rooms of the same name apart that were there one after the other.
    public var roomSession: String?
    /// The participant that it concerns; nil for an active speaker who has left.
    public var participant: Person?
    /// The reason for which a participant left, or a join or request was refused.
    public var reason: String?
    /// The time for which the participant or the room was there, in seconds.
    public var duration: Double?
    /// Refused joins or requests that no event told of, because there were too many.
    public var suppressed: Int?
    /// A moderator's act: its kind, the person whom it concerns, and the moderator.
    public var moderation: ModerationEvent?
    public var recording: RecordingStatus?
    public var stream: StreamStatus?
    public var output: OutputStatus?
    public var player: PlayerStatus?
    public var request: RefusedRequest?
    public var overload: Overload?

    public init(id: String, type: Kind, time: String, room: String? = nil) {
        self.id = id
        self.type = type
        self.time = time
        self.room = room
    }
}

/// The form of times in events.
package enum EventTime {
    package static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}
