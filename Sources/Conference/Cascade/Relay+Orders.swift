import MediaCore
import OrderedCollections
import RoomAPI
import SecureTransport

/// Changes of a room that other relays have to make: a participant is changed by its own relay, and what everybody sees
/// and who may enter by the relay that leads the room.
extension Relay {
    /// A room that ends here as soon as the other relays know what ends it.
    struct EndingRoom {
        /// The moderator's request, which is carried out when the other relays know of it.
        var moderation: RoomCommand.Moderation
        var actor: RoomActor
        /// The end of this relay's part at the latest.
        var deadline: MonotonicInstant
    }

    /// The longest wait for other relays when a room ends.
    private static let patienceForOrders = Duration.seconds(1)

    /// Sends a change to another relay, if there is one to make it. Returns false if this relay has to make it.
    func order(
        _ change: CascadeState.Order.Change, to link: CascadeLink?, now: MonotonicInstant
    ) throws(RoomControlError) -> Bool {
        guard let link else { return false }
        guard link.orders.add(change) else { throw .tooManyChanges(retryAfter: 1) }
        link.nextCheck = now
        return true
    }

    /// Sends a moderator's request to the relays that it concerns. Returns false if this relay has a part in it.
    func order(
        _ moderation: RoomCommand.Moderation, by actor: RoomActor, in room: Room, now: MonotonicInstant
    ) throws(RoomControlError) -> Bool {
        let change = CascadeState.Order.Change.moderation(moderation, by: actor)
        switch moderation {
        case .member(_, let id), .remove(let id, _):
            let link = room.participant(publicID: id)?.remote?.link
            // All other relays are to be told of a ban of a member of this one.
            if link == nil, case .remove(_, keepOut: true) = moderation { try checkOrders(of: room) }
            return try order(change, to: link, now: now)
        case .spotlight(let id):
            if let id, room.participant(publicID: id) == nil { throw .noSuchParticipant(id) }
            return try order(change, to: room.conductor, now: now)
        case .setEntry: return try order(change, to: room.conductor, now: now)
        case .lowerHands:
            try checkOrders(of: room)
            for link in room.links.values { _ = try order(change, to: link, now: now) }
            return false
        case .end:
            guard !room.links.isEmpty else { return false }
            try checkOrders(of: room)
            for link in room.links.values { _ = try order(change, to: link, now: now) }
            endLater(room, by: .end, actor, now: now)
            return true
        case .answer: return false
        }
    }

    /// Throws if a link of the room takes no further order: either all other relays are told of a change, or none is.
    private func checkOrders(of room: Room) throws(RoomControlError) {
        guard room.links.values.allSatisfy(\.orders.hasRoom) else { throw .tooManyChanges(retryAfter: 1) }
    }

    /// Carries out what another relay orders. An order about a participant that has left meanwhile has no effect.
    func carryOut(_ change: CascadeState.Order.Change, in room: Room, now: MonotonicInstant) {
        switch change {
        case .layout(let layout): try? room.setLayout(layout)
        case .overlays(let overlays): try? room.setOverlays(overlays)
        case .moderation(let moderation, let actor): try? carryOut(moderation, by: actor, in: room, now: now)
        case .ban(let identity, let host):
            room.door.keepOut(identity: identity, address: host.flatMap { TransportAddress(host: $0, port: 0) })
        }
    }

    /// Has a room end here when the other relays know, or do not answer: its links end with it.
    func endLater(_ room: Room, by moderation: RoomCommand.Moderation, _ actor: RoomActor, now: MonotonicInstant) {
        endingRooms[room.id] = EndingRoom(
            moderation: moderation, actor: actor, deadline: now + Self.patienceForOrders)
    }

    /// Ends rooms of which the other relays know, or do not answer.
    func endRooms(now: MonotonicInstant) {
        for (id, ending) in endingRooms {
            guard let room = rooms[id] else {
                endingRooms[id] = nil
                continue
            }
            guard now >= ending.deadline || room.links.values.allSatisfy(\.orders.waiting.isEmpty) else { continue }
            endingRooms[id] = nil
            try? carryOut(ending.moderation, by: ending.actor, in: room, now: now)
        }
    }
}
