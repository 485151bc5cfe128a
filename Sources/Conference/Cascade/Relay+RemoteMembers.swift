import MediaCore
import OrderedCollections
import PeerConnection
import RoomAPI

/// Members of this relay's rooms that are at other relays, and those who go from one relay to another.
extension Relay {
    /// Somebody has moved here, or to a third relay, from another one, which may still tell of it. Returns the place
    /// among the members that it had; nil: no link told of it.
    @discardableResult
    func removeFromLinks(_ publicID: String, of room: Room, now: MonotonicInstant) -> Int? {
        var place: Int?
        for link in room.links.values {
            guard let former = link.members.removeValue(forKey: publicID) else { continue }
            link.elsewhere[publicID] = former.remote?.told
            remoteMembers[former.id] = nil
            place = room.remove(former, isMoving: true, now: now)
        }
        return place
    }

    /// Removes a member from its room, unless another link tells that it has moved there already.
    func removeMember(_ member: Participant, from room: Room, now: MonotonicInstant) {
        let next = nextPlace(of: member, in: room)
        let place = room.remove(member, isMoving: next != nil, now: now)
        remoteMembers[member.id] = nil
        guard room.hasParticipants, let next else { return }
        addRemote(next.told, by: next.link, to: room, at: place, now: now)
    }

    /// Makes a participant of another relay a member, if nobody has its id or it has moved there since.
    func place(_ told: CascadeState.Member, of link: CascadeLink, in room: Room, now: MonotonicInstant) {
        var place: Int?
        if let former = room.participant(publicID: told.id) {
            guard former.remote != nil, told.moves ?? 0 > former.moves else {
                let before = link.elsewhere.updateValue(told, forKey: told.id)
                if let before, former.remote == nil, told.moves ?? 0 < former.moves {
                    room.adoptChanges(of: told, since: before, for: former, now: now)
                }
                return
            }
            place = removeFromLinks(told.id, of: room, now: now)
        }
        addRemote(told, by: link, to: room, at: place, now: now)
    }

    /// The relay to which somebody who leaves a place has moved, if another link tells of it already.
    func nextPlace(of former: Participant, in room: Room) -> (link: CascadeLink, told: CascadeState.Member)? {
        let places = room.links.values.compactMap { link in link.elsewhere[former.publicID].map { (link, $0) } }
        return places.max { $0.1.moves ?? 0 < $1.1.moves ?? 0 }.flatMap { place in
            place.1.moves ?? 0 >= former.moves ? place : nil
        }
    }

    private func addRemote(
        _ told: CascadeState.Member, by link: CascadeLink, to room: Room, at place: Int?, now: MonotonicInstant
    ) {
        link.elsewhere[told.id] = nil
        room.door.returned(told.id)
        let member = makeMember(
            told.id, name: told.name, room: room.id, role: told.role ?? .sendAndReceive,
            grants: MemberGrants(role: told.accessRole ?? .participant, permissions: Set(Permission.allCases)),
            client: nil, peer: link.peer, now: now)
        member.remote = RemoteOrigin(link: link, told: told)
        member.moves = told.moves ?? 0
        member.adoptSession()
        member.hasRaisedHand = told.hand
        remoteMembers[member.id] = member
        link.members[told.id] = member
        room.add(member, downlink: nil, at: place)
        room.remoteMemberChanged(member, told: told, now: now)
        carryOutHeldOrders(about: told.id, in: room, now: now)
    }
}
