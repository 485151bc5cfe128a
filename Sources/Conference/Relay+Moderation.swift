public import MediaCore
import OrderedCollections
import RTP
public import RoomAPI
import SecureTransport

extension Relay {
    /// Carries out a moderator's request, or has another relay do it. The caller has checked the moderator's rights.
    func moderate(
        _ moderation: RoomCommand.Moderation, by actor: RoomActor, in room: Room, now: MonotonicInstant
    ) throws(RoomControlError) {
        guard try !order(moderation, by: actor, in: room, now: now) else { return }
        try carryOut(moderation, by: actor, in: room, now: now)
    }

    /// Does this relay's part of what a moderator asks for.
    func carryOut(
        _ moderation: RoomCommand.Moderation, by actor: RoomActor, in room: Room, now: MonotonicInstant
    ) throws(RoomControlError) {
        switch moderation {
        case .member(let wanted, let id):
            let member = try Self.participant(id, in: room)
            room.moderate(member, wanted, by: actor, now: now)
            service(member, now: now)
            // A member that is about to move has a second session at the next relay, and that relay has told of it.
            if let next = nextPlace(of: member, in: room), next.told.moves ?? 0 > member.moves {
                _ = try? order(.moderation(moderation, by: actor), to: next.link, now: now)
            }
        case .remove(let id, let keepsOut):
            let member = try Self.participant(id, in: room)
            if keepsOut {
                room.door.keepOut(identity: member.grants.identity, address: member.client)
                // The relay that leads the room lets people in, and each answers those who ask what happens there.
                let ban = CascadeState.Order.Change.ban(identity: member.grants.identity, host: member.client?.host)
                // A ban that finds no room in a link's queue is left out: a moderator of this relay was told to try
                // again, and nobody repeats another relay's order.
                for link in room.links.values { _ = try? order(ban, to: link, now: now) }
            }
            guard endingRooms[room.id]?.cause != .removal(participant: id) else { return }
            room.tell(.removed, member, by: actor)
            // With the last participant of this relay the links end, which have to tell this.
            let isLast = room.participants.allSatisfy { $0 === member || $0.remote != nil || $0.player != nil }
            guard isLast, !room.links.isEmpty else {
                remove(member, because: .removed, now: now)
                return
            }
            // A participant whose removal waited until now has left. The end of the room ends this call, too.
            if case .end = endingRooms[room.id]?.cause { return }
            endLater(room, because: .removal(participant: id), now: now)
        case .spotlight(let id):
            let member = try id.map { id throws(RoomControlError) in
                guard let member = room.participant(publicID: id) else { throw .noSuchParticipant(id) }
                return member
            }
            heldOrders.dropSpotlights(in: room.id)
            room.spotlight(member, by: actor)
        case .lowerHands: room.lowerHands(by: actor)
        case .setEntry(let locked, let lobby, let pin):
            room.setEntry(locked: locked, lobby: lobby, pin: pin, by: actor)
        case .answer(let id, let isAdmitted): try room.answer(waiting: id, isAdmitted: isAdmitted, by: actor)
        case .end:
            room.emit(.moderated(ModerationEvent(.ended, by: actor)))
            for member in Array(room.participants) where member.remote == nil {
                remove(member, because: .ended, now: now)
            }
        }
    }

    /// The reason for which a person may not enter a room, which may have been on another relay until now.
    func doorRefusal(of request: JoinRequest, isReturning: Bool, now: MonotonicInstant) -> JoinError? {
        guard !isReturning else { return rooms[request.room]?.door.refusal(ofReturning: request.grants) }
        guard let room = rooms[request.room] else {
            guard let conditions = request.inheritedConditions else { return nil }
            var door = RoomDoor(
                inherited: conditions, time: Double(wallClock.ntpTime(at: now).unixSeconds), now: now)
            let refusal = door.refusal(of: request, isMember: false, ticket: { "" }, now: now)
            // Nobody is there yet who could let the person in.
            if case .waits = refusal { return .nobodyIsBack(retryAfter: Self.returnInterval) }
            return refusal
        }
        let isMember = request.rejoiningAs.map { room.participant(publicID: $0)?.remote != nil } ?? false
        let waiting = room.door.lobby.waiting.count
        let refusal = room.door.refusal(
            of: request, isMember: isMember, ticket: { "w-" + makePublicID() }, now: now)
        if room.door.lobby.waiting.count != waiting { room.entryChanged() }
        return refusal
    }

    /// Seconds after which a person asks again who waits for the room's members.
    private static let returnInterval = 2

    /// The outcome for a person in a room's lobby that asks; nil: the person does not wait there.
    public func lobbyState(of ticket: String, room id: String, now: MonotonicInstant) -> LobbyState? {
        rooms[id]?.door.lobby.ask(ticket, now: now)
    }

    /// A person gives up the place in a room's lobby; false: the person does not wait there.
    public func leaveLobby(_ ticket: String, room id: String) -> Bool {
        guard let room = rooms[id], let state = room.door.lobby.remove(ticket) else { return false }
        if state == .waiting { room.entryChanged() }
        return true
    }

    /// The people in a room's lobby; nil: there is no such room.
    public func waiting(inRoom id: String) -> [WaitingPerson]? { rooms[id]?.door.lobby.waiting }

    /// Forgets people that wait no longer.
    func expireLobbies(now: MonotonicInstant) {
        for room in rooms.values where room.door.lobby.expire(now: now) { room.entryChanged() }
    }
}
