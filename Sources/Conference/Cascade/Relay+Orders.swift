import MediaCore
import OrderedCollections
import RoomAPI
import SecureTransport

/// Changes of a room that other relays have to make: a participant is changed by its own relay, and what everybody sees
/// and who may enter by the relay that leads the room.
extension Relay {
    /// A room that ends here as soon as the other relays know what ends it.
    struct EndingRoom {
        enum Cause: Equatable {
            /// A moderator has removed this relay's last participant.
            case removal(participant: String)
            case end(by: RoomActor)

            var isEnd: Bool { if case .end = self { true } else { false } }
        }

        var cause: Cause
        var began: MonotonicInstant
        /// The end of this relay's part at the latest.
        var deadline: MonotonicInstant
    }

    /// The longest wait for other relays when a room ends.
    private static let patienceForOrders = Duration.seconds(1)
    /// The longest wait before that for links that have yet to be made, or to connect: a packet of the handshake may be
    /// lost.
    private static let patienceForLinks = Duration.seconds(2)

    /// Sends a change to another relay, if there is one to make it. Returns false if this relay has to make it.
    func order(
        _ change: CascadeState.Order.Change, to link: CascadeLink?, now: MonotonicInstant
    ) throws(RoomControlError) -> Bool {
        guard let link else { return false }
        guard link.orders.add(change) else { throw .tooManyChanges(retryAfter: 1) }
        link.nextCheck = now
        return true
    }

    /// The link to the relay that alone makes a change; nil: this one does, or each relay does its part.
    func link(for change: CascadeState.Order.Change, in room: Room) -> CascadeLink? {
        switch change {
        case .layout, .overlays, .moderation(.spotlight, _), .moderation(.setEntry, _): room.conductor
        case .moderation(.member(_, let id), _), .moderation(.remove(let id, _), _):
            room.participant(publicID: id)?.remote?.link
        case .moderation(.lowerHands, _), .moderation(.answer, _), .moderation(.end, _), .ban: nil
        }
    }

    /// Sends a moderator's request to the relays that it concerns. Returns false if this relay has a part in it.
    func order(
        _ moderation: RoomCommand.Moderation, by actor: RoomActor, in room: Room, now: MonotonicInstant
    ) throws(RoomControlError) -> Bool {
        let change = CascadeState.Order.Change.moderation(moderation, by: actor)
        let link = link(for: change, in: room)
        switch moderation {
        case .remove(_, keepOut: true) where link == nil:
            // All other relays are to be told of a ban of a member of this one.
            try checkOrders(of: room)
        case .spotlight(let id?) where room.participant(publicID: id) == nil: throw .noSuchParticipant(id)
        case .lowerHands:
            try checkOrders(of: room)
            for link in room.links.values { _ = try order(change, to: link, now: now) }
        case .end:
            guard !room.links.isEmpty || !room.otherRelays.isEmpty else { return false }
            try checkOrders(of: room)
            for link in room.links.values { _ = try order(change, to: link, now: now) }
            endLater(room, because: .end(by: actor), now: now)
            return true
        case .member, .remove, .spotlight, .setEntry, .answer: break
        }
        return try order(change, to: link, now: now)
    }

    /// Throws if a link of the room takes no further order: either all other relays are told of a change, or none is.
    private func checkOrders(of room: Room) throws(RoomControlError) {
        guard room.links.values.allSatisfy(\.orders.hasRoom) else { throw .tooManyChanges(retryAfter: 1) }
    }

    /// Carries out what another relay orders, or sends it on: the participant may have moved to a third relay
    /// meanwhile, or a third one leads the room by now. An order about a participant that has left waits a moment, as
    /// another relay may be about to tell of them, and then has no effect.
    func carryOut(_ change: CascadeState.Order.Change, in room: Room, now: MonotonicInstant) {
        if let subject = change.subject, room.participant(publicID: subject) == nil,
            link(for: change, in: room) == nil
        {
            heldOrders.hold(change, about: subject, in: room.id, now: now)
            return
        }
        guard (try? order(change, to: link(for: change, in: room), now: now)) == false else { return }
        switch change {
        case .layout(let layout): choose(room.possible(layout).layout(or: room.layout.mode), in: room)
        case .overlays(let overlays): try? room.setOverlays(overlays)
        case .moderation(let moderation, let actor): try? carryOut(moderation, by: actor, in: room, now: now)
        case .ban(let identity, let host):
            room.door.keepOut(identity: identity, address: host.flatMap { TransportAddress(host: $0, port: 0) })
        }
    }

    /// Gives a room the layout that somebody has chosen, here or at another relay.
    func choose(_ layout: RoomLayout, in room: Room) {
        heldOrders.dropSpotlights(in: room.id)
        room.adopt(layout)
    }

    /// Somebody is known here by now, about whom orders may wait.
    func carryOutHeldOrders(about participant: String, in room: Room, now: MonotonicInstant) {
        for change in heldOrders.take(about: participant, in: room.id, now: now) {
            carryOut(change, in: room, now: now)
        }
    }

    /// Takes what a moderator did at another relay of a room. A participant that was removed there may be here too,
    /// about to move, or may have left this relay a moment ago: then no seat is kept.
    func take(_ act: ModerationEvent, in room: Room, now: MonotonicInstant) {
        room.take(act)
        guard act.action == .removed, let id = act.participant else { return }
        returning.remove(id)
        if let member = room.localParticipant(publicID: id) { remove(member, because: .removed, now: now) }
    }

    /// Has a room end here when the other relays know, or do not answer: its links end with it.
    func endLater(_ room: Room, because cause: EndingRoom.Cause, now: MonotonicInstant) {
        endingRooms[room.id] = EndingRoom(cause: cause, began: now, deadline: now + Self.patienceForOrders)
    }

    /// Sets which other relays have which rooms of this one, whether there are links to them yet or not.
    public func setOtherRelays(_ relays: [String: Set<String>]) {
        for room in rooms.values { room.otherRelays = relays[room.id] ?? [] }
    }

    /// Ends rooms of which the other relays know, or do not answer.
    func endRooms(now: MonotonicInstant) {
        for (id, ending) in endingRooms {
            guard let room = rooms[id] else {
                endingRooms[id] = nil
                continue
            }
            let lacksLink = ending.cause.isEnd && !room.otherRelays.isSubset(of: room.links.keys)
            let isTold =
                !lacksLink && room.links.values.allSatisfy { $0.orders.waiting.isEmpty && $0.acts.waiting.isEmpty }
            var deadline = ending.deadline
            if now - ending.began < Self.patienceForLinks, lacksLink || !room.links.values.allSatisfy(\.isConnected) {
                deadline = now + Self.patienceForOrders
                endingRooms[id]?.deadline = deadline
            }
            guard now >= deadline || isTold else { continue }
            endingRooms[id] = nil
            switch ending.cause {
            case .removal(let participant):
                guard let member = room.localParticipant(publicID: participant) else { continue }
                remove(member, because: .removed, now: now)
            case .end(let actor): try? carryOut(.end, by: actor, in: room, now: now)
            }
        }
    }
}
