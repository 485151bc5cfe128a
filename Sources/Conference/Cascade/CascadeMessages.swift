public import Compositing
public import RoomAPI

/// A source of a participant, as relays name it to each other.
public struct CascadeSource: Codable, Hashable, Sendable {
    public enum Content: String, Codable, Hashable, Sendable {
        case audio, camera, screen
    }

    public var participant: String
    public var content: Content
}

/// The first message of a link: the relay that makes it tells how its side of the path is reached and authenticated.
///
/// The streams of a link are not negotiated. Both sides are relays of one cluster and know the formats; which stream
/// has which source is told in `CascadeState`.
public struct CascadeOffer: Codable, Hashable, Sendable {
    /// A media address.
    public struct Address: Codable, Hashable, Sendable {
        public var host: String
        public var port: UInt16
    }

    /// The version of these messages.
    public static let currentVersion = 1

    public var version = Self.currentVersion
    /// Names the link.
    public var link: String
    /// Credentials of connectivity checks (RFC 8445).
    public var usernameFragment: String
    public var password: String
    /// The SHA-256 fingerprint of the relay's certificate, as in `a=fingerprint`.
    public var fingerprint: String
    /// The source of the relay's reports.
    public var reporter: UInt32
    /// The media addresses at which the relay answers checks. Empty for the side that makes the checks.
    public var addresses: [Address]
}

/// All that a relay has to tell the other side of a link. Each message replaces the one before, so a lost one does no
/// harm.
///
/// The other side may be of an earlier version. A new field is optional or `IfReadable`, and an enumeration that may
/// gain cases is in an `IfReadable` field or in items that are `EachReadable`: an earlier version leaves out what it
/// cannot read, and takes the rest. What must not be left out needs another `CascadeOffer.currentVersion`.
public struct CascadeState: Codable, Hashable, Sendable {
    /// A participant of the relay.
    public struct Member: Codable, Hashable, Sendable {
        public var id: String
        public var name: String
        /// Nil: this version does not know it.
        @IfReadable public var role: ParticipantRole?
        @IfReadable public var accessRole: AccessRole?
        /// The streams that the participant sends.
        public var sendsAudio: Bool
        public var sendsVideo: Bool
        public var sharesScreen: Bool
        /// True if the microphone is on, and may be; likewise the camera.
        public var microphone: Bool
        public var camera: Bool
        public var hand: Bool
        /// True if a moderator has muted the microphone, or turned the camera off.
        public var muted: Bool
        public var cameraOff: Bool
        /// The number of times that the participant has come from another relay: the relay to which it came last tells
        /// the highest. Nil, from earlier versions, means never.
        public var moves: Int?
        /// The digest of the avatar's file, which `GET /cascade/links/{link}/avatars/{participant}` has; nil: there is
        /// none.
        public var avatar: String?
        /// The layout that the participant has chosen for itself, which goes along when it moves; nil: there is none,
        /// or it is a large one.
        @IfReadable public var layout: ReadableLayout? = nil
    }

    /// A source's packets on the link.
    public struct Stream: Codable, Hashable, Sendable {
        public var source: CascadeSource
        /// The index of the stream's line in the link's session: even for the side that made the link, odd for the
        /// other; never zero.
        public var line: Int
        public var ssrc: UInt32
        /// The source of retransmissions; nil for audio.
        public var retransmissions: UInt32?
    }

    /// A source of the other side that this one shows.
    public struct Want: Codable, Hashable, Sendable {
        public var source: CascadeSource
        /// The size of its largest tile, in pixels.
        public var width: Int
        public var height: Int
    }

    /// A change that the other side has to make: of its participants, or as the relay that leads the room.
    public struct Order: Codable, Hashable, Sendable {
        public enum Change: Codable, Hashable, Sendable {
            case layout(ReadableLayout)
            case overlays(OverlayList)
            case moderation(RoomCommand.Moderation, by: RoomActor)
            /// Keeps a person out that another relay has removed: by identity, or without one by the client's address.
            case ban(identity: String?, host: String?)
        }

        /// Grows with each order of a link.
        public var number: UInt64
        public var change: Change
    }

    /// Something that a moderator did.
    public struct Act: Codable, Hashable, Sendable {
        /// Grows with each act of a link.
        public var number: UInt64
        public var event: ModerationEvent
    }

    /// The view of everybody in the room, which the relay decides that leads it: the conductor.
    public struct Stage: Codable, Hashable, Sendable {
        /// The room's epoch. A stage of a lower epoch is that of a relay that leads no more.
        public var epoch: Int64
        /// The layout, as far as this version can read it.
        @IfReadable public var layout: ReadableLayout?
        /// Nil: this version does not know them, and keeps its own; likewise a layout's mode.
        @IfReadable public var overlays: OverlayList?
        /// The ids of all members in the order of their tiles.
        public var order: [String]
        /// The ids of members that spoke, the latest first.
        public var speakers: [String]
        /// The conditions for entering, and the number of people in the lobby.
        public var entry: RoomEntryState
        public var waiting: Int
        /// The digest of the key that moderates the room; nil: there is none, or the relay is of an earlier version.
        public var moderatorKey: [UInt8]?
        /// The verifier of the PIN; nil: there is none, or the relay is of an earlier version.
        public var pin: [UInt8]?
        /// When the room began, in seconds since 1970; nil: the relay is of an earlier version.
        public var roomBegan: Double?
    }

    /// Nil from a relay that does not lead the room.
    public var stage: Stage?
    /// Grows with each message of a link.
    public var sequence: UInt64 = 0
    @EachReadable public var members: [Member] = []
    @EachReadable public var streams: [Stream] = []
    @EachReadable public var wants: [Want] = []
    /// Orders of which it is not known whether the other side has them, the oldest first.
    @EachReadable public var orders: [Order] = []
    /// Acts of which it is not known whether the other side has them, the oldest first. Those who follow the room's
    /// events there hear of them.
    @EachReadable public var acts: [Act] = []
}

/// A message for the other side of a link.
public struct CascadeUpdate: Sendable {
    public var room: String
    /// The relay at the other side.
    public var node: String
    public var link: String
    public var state: CascadeState
}

/// The reason for which there is no link, or a message was refused.
public enum CascadeError: Error, Hashable, CustomStringConvertible {
    /// The relay has no participants in the room.
    case noSuchRoom
    case noSuchLink
    /// The message is not of this version, or holds values that no relay sends.
    case invalid(reason: String)
    /// A request that made a link has come again.
    case isKnown
    /// The other side sends too many messages.
    case tooManyMessages
    /// The room has its limit of links.
    case tooManyLinks(limit: Int)
    /// The relay has no certificate, or a cipher session could not be made.
    case resources(String)

    public var description: String {
        switch self {
        case .noSuchRoom: "this relay has no participants in the room"
        case .noSuchLink: "this relay has no such link; it may have ended: make another"
        case .invalid(let reason): "not a message of a link between relays: \(reason)"
        case .isKnown: "this request has made a link already; make another with a new name"
        case .tooManyMessages: "too many messages of a link; send the newest state later"
        case .tooManyLinks(let limit): "the room has its limit of \(limit) links"
        case .resources(let reason): reason
        }
    }
}

/// The state of a link, for the relay's cluster and for metrics.
public struct CascadeLinkSnapshot: Hashable, Sendable {
    public var room: String
    /// The relay at the other side.
    public var node: String
    /// True once keys were made, while packets come.
    public var isConnected: Bool
    /// Participants of the other side.
    public var members: Int
    /// Streams that are sent and that come.
    public var streamsOut: Int
    public var streamsIn: Int
    /// Bits a second.
    public var sendBitRate: Int64
    public var receiveBitRate: Int64
    public var targetBitRate: Int64
    /// Seconds; nil before the first measurement.
    public var roundTripTime: Double?
}

/// Counted since the relay's start.
public struct CascadeCounters: Hashable, Sendable {
    public var connected: UInt64 = 0
    /// Links that failed, or fell silent.
    public var lost: UInt64 = 0
    /// Packets of sources that were forwarded to other relays.
    public var packets: UInt64 = 0
    /// Sources that were held back because a link carried too little.
    public var heldBack: UInt64 = 0
    /// Messages of relays that were refused.
    public var refused: UInt64 = 0

    public init() {}
}
