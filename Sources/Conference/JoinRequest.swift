public import RoomAPI
public import SDP
public import SecureTransport

/// A request to join a room.
public struct JoinRequest: Sendable {
    public var room: String
    public var name: String
    /// The session description (RFC 8866) offered.
    public var offer: ReceivedOffer
    public var role: ParticipantRole
    /// The self-view; `nil` for the relay's setting.
    public var selfView: SelfView?
    /// The address from which the request came. Until a packet authenticates another one, media goes to the offer's own
    /// address only if it is on this host: an offer cannot direct the relay's media at a third party.
    public var signallingPeer: TransportAddress?
    /// The address by which joins are counted; nil if it is not known. Nothing is sent there.
    public var client: TransportAddress?
    /// The id of the participant that the same client was until now, as the caller has verified. If that participant
    /// has a seat, or left with one less than 15 s ago, this one takes its place, whatever the limits.
    public var returningAs: String?
    /// True if the client says that it was in a call until now, which it need not prove: a relay that was started again
    /// knows no former participant. The role that it had there may have permitted more.
    public var claimsToReturn = false
    /// The id of the participant that the same client was on another relay, as the caller has verified. The participant
    /// keeps it.
    public var rejoiningAs: String?
    /// When that relay made the key by which the caller has verified this, in seconds since 1970; nil: not known.
    public var rejoinKeyTime: Double?
    /// The knowledge of that participant at the relay that sent the client here; nil: none. A link tells the newest.
    public var former: CascadeState.Member?
    /// The conditions for entering the room on the relay that had it before; nil: none had.
    public var inheritedConditions: EntryConditions?
    /// The participant's role and permissions.
    public var grants: MemberGrants
    /// The digest of the key that moderates the room, if this request begins it; nil: who begins it moderates nothing.
    public var newModeratorKey: [UInt8]?
    /// The digest of the key by which the client moderates the room, as it says; nil: it says nothing.
    public var moderatorKey: [UInt8]?
    /// The verifier of the PIN that the client knows, as the caller has verified; nil: it knows none. A moderator may
    /// have set another PIN since.
    public var provenPIN: [UInt8]?
    /// The id of the client's place in the lobby, as the caller has verified.
    public var ticket: String?

    /// True if the client may have shared a screen until now.
    var mayHaveShared: Bool { claimsToReturn || returningAs != nil }

    /// Makes a request, for which the offer is parsed.
    public init(
        room: String, name: String, offer: String, role: ParticipantRole = .sendAndReceive, selfView: SelfView? = nil,
        signallingPeer: TransportAddress? = nil, client: TransportAddress? = nil, returningAs: String? = nil,
        grants: MemberGrants = .open, newModeratorKey: [UInt8]? = nil
    ) {
        self.room = room
        self.name = name
        self.offer = ReceivedOffer(offer)
        self.role = role
        self.selfView = selfView
        self.signallingPeer = signallingPeer
        self.client = client ?? signallingPeer
        self.returningAs = returningAs
        self.grants = grants
        self.newModeratorKey = newModeratorKey
    }
}

/// A join that succeeded.
public struct JoinResult: Sendable {
    public var participantID: String
    /// The session description to answer with.
    public var answer: String
    /// Names the ICE session, as a strong entity tag in its quotes (RFC 9725, section 4.3.1); nil if there is none.
    public var entityTag: String?
    /// True if the participant has begun the room, and the request's new key moderates it.
    public var moderatesByKey = false
}

/// The reason for which a join was refused.
public enum JoinError: Error, CustomStringConvertible {
    /// The offer is not a session description, or offers nothing the relay can take.
    case offer(SDPError)
    case roomFull(limit: Int)
    case tooManyRooms(limit: Int)
    /// The machine has no time for another participant; it may have after this many seconds.
    case overloaded(reason: String, retryAfter: Int)
    /// Too many joins from the client's address have not connected yet; the first of them ends in this many seconds.
    case tooManyUnconnectedFromAddress(limit: Int, retryAfter: Int)
    /// The same of all addresses together.
    case tooManyUnconnected(limit: Int, retryAfter: Int)
    /// Another offer came for a participant that is not there.
    case noSuchParticipant
    /// A participant made new offers too often; the next offer is possible after this many seconds.
    case tooManyOffers(retryAfter: Int)
    /// An offer begins a screen share, which the participant's role does not permit.
    case mayNotShareScreen
    /// The relay ends when its calls are over, and takes no others.
    case draining
    /// A moderator has removed the person with this identity or address.
    case keptOut
    /// A moderator has locked the room.
    case locked
    /// The room has a PIN, which did not come with the join, or was wrong.
    case pinNeeded
    /// A moderator has to let the client in; this is its place in the lobby.
    case waits(ticket: String)
    /// Too many wait in the lobby.
    case lobbyFull
    /// The room has a lobby, and its members have not come yet from the relay that had it before.
    case nobodyIsBack(retryAfter: Int)
    /// The relay is shutting down.
    case closed
    /// A codec or cipher session could not be made.
    case resources(String)

    public var description: String {
        switch self {
        case .offer(let error): "\(error)"
        case .roomFull(let limit): "the room is full with \(limit) participants; try again when someone has left"
        case .tooManyRooms(let limit): "the relay has its limit of \(limit) rooms; join one of them, or try later"
        case .overloaded(let reason, let seconds): "\(reason); try again in \(seconds) s"
        case .tooManyUnconnectedFromAddress(let limit, let seconds):
            "\(limit) joins from your address have not connected yet, and no more are accepted until one of them "
                + "connects or ends; check that UDP to the relay's media port is not blocked, and try again in "
                + "\(seconds) s"
        case .tooManyUnconnected(let limit, let seconds):
            "\(limit) joins have not connected yet, and the relay accepts no more until one of them connects or ends; "
                + "try again in \(seconds) s"
        case .noSuchParticipant: "there is no such participant in the room; it may have left: join again"
        case .tooManyOffers(let seconds):
            "this participant sent too many offers in a short time; send the newest one again in \(seconds) s"
        case .mayNotShareScreen:
            "sharing a screen takes the role of a presenter, which a moderator can give you; go on without the screen "
                + "until then"
        case .draining: "the relay takes no more joins: it ends when the calls in progress are over"
        case .keptOut: "a moderator has removed you from the room"
        case .locked: "the room is locked: no new members are admitted"
        case .pinNeeded:
            "the room has a PIN: send it as Room-PIN, as the query parameter pin, or by confclient's --pin"
        case .waits: "a moderator has to let you in; you wait in the lobby"
        case .lobbyFull: "too many people wait in the lobby already, or too many from your address; try again later"
        case .nobodyIsBack(let seconds):
            "the room comes from another relay, and nobody is here yet who could let you in; try again in \(seconds) s"
        case .closed: "the relay is shutting down"
        case .resources(let reason): reason
        }
    }
}
