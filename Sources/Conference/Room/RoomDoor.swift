import MediaCore
import RoomAPI
import SecureTransport

/// The conditions for entering a room, and for moderating it, that it keeps when another relay of a cluster takes it
/// over.
public struct EntryConditions: Hashable, Sendable {
    public var isLocked: Bool
    public var hasLobby: Bool
    /// The verifier of the PIN; nil: there is none.
    public var pin: [UInt8]?
    /// The digest of the key that moderates the room; nil: tokens alone do.
    public var moderatorKey: [UInt8]?
    /// When the room began, at its first relay, in seconds since 1970; nil: not known.
    public var roomBegan: Double?
    /// The ids of members whom moderators removed, the latest last: they come back by no key from before.
    public var removed: [String]
    /// The ids of members who left, likewise.
    public var left: [String]

    /// The most ids of removed members, and of those who left. Of more, the first one comes back as others do.
    public static let maximumRemoved = 256
    /// The time in which members of a room that had another relay come back past its conditions, and to a layout that
    /// names them.
    public static let returnTime = Duration.seconds(60)

    public init(
        isLocked: Bool = false, hasLobby: Bool = false, pin: [UInt8]? = nil, moderatorKey: [UInt8]? = nil,
        roomBegan: Double? = nil, removed: [String] = [], left: [String] = []
    ) {
        self.isLocked = isLocked
        self.hasLobby = hasLobby
        self.pin = pin
        self.moderatorKey = moderatorKey
        self.roomBegan = roomBegan
        self.removed = removed
        self.left = left
    }

    /// The conditions for other relays. The ids of those who left are of use only where the conditions keep people out.
    var told: EntryConditions {
        guard !areRestrictive else { return self }
        var told = self
        told.left = []
        return told
    }

    /// True if these conditions may keep somebody out.
    var areRestrictive: Bool { isLocked || hasLobby || pin != nil }
}

/// A room's conditions for entering, with its lobby and bans.
struct RoomDoor {
    /// Of more, the one that was kept out first may come back.
    private static let maximumKeptOut = 256

    var conditions: EntryConditions
    var lobby = RoomLobby()
    /// The end of the time in which members come back; nil: the room has begun here.
    private let returnsEnd: MonotonicInstant?
    /// When the room began whose members come back, in seconds since 1970; nil: not known.
    private let formerBegan: Double?
    /// How far the clocks of two relays may be apart, and a room's beginning and its first key.
    private static let leeway = 10.0
    private var keptOut: [KeptOut] = []
    /// Members whose relay was lost, by their ids, with the time until which they come back past the conditions.
    private var expected: [String: (told: CascadeState.Member, until: MonotonicInstant)] = [:]
    /// Eight relays with a full room each.
    private static let maximumExpected = 8 * 200

    private enum KeptOut: Equatable {
        case identity(String)
        case network(ClientNetwork)
    }

    /// - Parameters:
    ///   - inherited: The conditions of the room on the relay that had it before.
    ///   - time: Seconds since 1970.
    init(inherited: EntryConditions?, time: Double, now: MonotonicInstant) {
        conditions = inherited ?? EntryConditions()
        formerBegan = inherited?.roomBegan
        conditions.roomBegan = formerBegan ?? time
        returnsEnd = inherited.map { _ in now + EntryConditions.returnTime }
    }

    /// True if it may keep somebody out, by its conditions or by a ban.
    var isRestrictive: Bool { conditions.areRestrictive || !keptOut.isEmpty }

    var state: RoomEntryState {
        RoomEntryState(locked: conditions.isLocked, lobby: conditions.hasLobby, pin: conditions.pin != nil)
    }

    /// Bans a person from now on: by identity, or without one by address.
    mutating func keepOut(identity: String?, address: TransportAddress?) {
        let entry = identity.map { KeptOut.identity($0) } ?? address.map { .network(ClientNetwork($0)) }
        guard let entry, !keptOut.contains(entry) else { return }
        if keptOut.count == Self.maximumKeptOut { keptOut.removeFirst() }
        keptOut.append(entry)
    }

    /// Members at another relay, to which the link has ended, may come back here.
    mutating func expect(_ members: some Sequence<CascadeState.Member>, now: MonotonicInstant) {
        expected = expected.filter { now < $0.value.until }
        for told in members.prefix(Self.maximumExpected - expected.count) {
            expected[told.id] = (told, until: now + EntryConditions.returnTime)
        }
    }

    /// The last word of a lost relay about a member that may come back here.
    func expectedMember(_ id: String, now: MonotonicInstant) -> CascadeState.Member? {
        expected[id].flatMap { now < $0.until ? $0.told : nil }
    }

    /// A member has a seat again, here or at another relay: what the lost relay knew of it is out of date.
    mutating func returned(_ id: String) {
        expected[id] = nil
        conditions.removed.removeAll { $0 == id }
        conditions.left.removeAll { $0 == id }
    }

    /// A member has left, at any relay of the room, and may have a key that was made for the time after a fault.
    mutating func left(_ id: String) {
        guard !conditions.removed.contains(id), !conditions.left.contains(id) else { return }
        conditions.left = conditions.left.suffix(EntryConditions.maximumRemoved - 1) + [id]
    }

    /// Somebody whom a moderator removed, at any relay of the room, comes back past the conditions no more.
    mutating func moderated(_ event: ModerationEvent) {
        guard event.action == .removed, let id = event.participant else { return }
        returned(id)
        conditions.removed = conditions.removed.suffix(EntryConditions.maximumRemoved - 1) + [id]
    }

    /// The reason for which a person may not enter; nil: the person may.
    ///
    /// - Parameters:
    ///   - isMember: True if the person is in the room at another relay.
    ///   - ticket: Makes the id of a new place in the lobby.
    mutating func refusal(
        of request: JoinRequest, isMember: Bool, ticket: () -> String, now: MonotonicInstant
    ) -> JoinError? {
        guard !request.grants.permissions.contains(.moderate) else { return nil }
        if let id = request.rejoiningAs {
            if isMember || expectedMember(id, now: now) != nil { return refusal(ofReturning: request.grants) }
            // Nothing is known of who was a member at the relay that the room had before.
            if let returnsEnd, now < returnsEnd, isOfFormerRoom(request.rejoinKeyTime),
                !conditions.removed.contains(id), !conditions.left.contains(id)
            {
                return isKeptOut(request.grants, request.client) ? .keptOut : nil
            }
        }
        if let refusal = refusal(of: request.grants, client: request.client, provenPIN: request.provenPIN) {
            return refusal
        }
        guard waits(request.grants) else { return nil }
        let identity = request.grants.identity
        if let place = lobby.place(of: request.ticket, identity: identity) {
            return lobby.ask(place, now: now) == .admitted ? nil : .waits(ticket: place)
        }
        let id = ticket()
        let network = request.client.map(ClientNetwork.init)
        guard lobby.add(id, name: request.name, identity: identity, from: network, now: now) else { return .lobbyFull }
        return .waits(ticket: id)
    }

    /// Returns false for the key of somebody who was in an earlier room of this name.
    private func isOfFormerRoom(_ keyTime: Double?) -> Bool {
        guard let keyTime, let formerBegan else { return true }
        return keyTime >= formerBegan - Self.leeway
    }

    /// The room is a part of one that began earlier at another relay.
    mutating func isPart(ofRoomBegunAt time: Double?) {
        guard let time else { return }
        conditions.roomBegan = min(conditions.roomBegan ?? time, time)
    }

    /// The reason for which a person may not come back; nil: the person may. A member who was removed may have had
    /// another session, from which to come back; a ban of an address is for those who come newly.
    func refusal(ofReturning grants: MemberGrants) -> JoinError? {
        guard !grants.permissions.contains(.moderate), grants.identity != nil else { return nil }
        return isKeptOut(grants, nil) ? .keptOut : nil
    }

    /// The reason for which a publisher's stream may not enter; nil: it may. A stream cannot wait, nor give a PIN.
    func refusal(of publisher: StreamPublisher) -> JoinError? {
        guard !publisher.grants.permissions.contains(.moderate) else { return nil }
        return refusal(of: publisher.grants, client: publisher.client, provenPIN: nil)
            ?? (waits(publisher.grants) ? .locked : nil)
    }

    private func refusal(of grants: MemberGrants, client: TransportAddress?, provenPIN: [UInt8]?) -> JoinError? {
        if isKeptOut(grants, client) { return .keptOut }
        if conditions.isLocked { return .locked }
        return conditions.pin == nil || conditions.pin == provenPIN ? nil : .pinNeeded
    }

    private func waits(_ grants: MemberGrants) -> Bool {
        conditions.hasLobby && !(grants.role.skipsLobby && grants.identity != nil)
    }

    /// True if a moderator removed a person with these grants, or from this address.
    func isKeptOut(_ grants: MemberGrants, _ client: TransportAddress?) -> Bool {
        if let identity = grants.identity { return keptOut.contains(.identity(identity)) }
        return client.map { keptOut.contains(.network(ClientNetwork($0))) } ?? false
    }
}
