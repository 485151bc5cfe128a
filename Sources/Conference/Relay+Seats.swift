public import MediaCore
import PeerConnection
import RoomAPI

/// A participant takes a seat when it connects, not when it joins: a join proves nothing about its client.
extension Relay {
    /// Gives a seat to a participant that has just connected, or removes it if the last seat is taken.
    func takeSeat(for participant: Participant, in room: Room, now: MonotonicInstant) {
        guard participant.isReturning || (hasSeat(in: room) && overload.seatsLeft != 0) else {
            joinCounters.withoutSeat &+= 1
            remove(participant, because: .noSeat, now: now)
            return
        }
        overload.seatTaken(now: now)
        participant.isSeated = true
        room.door.returned(participant.publicID)
        unconnected.remove(participant.id)
        notices.append(.connected(participant.member, after: now - participant.joined))
        room.setAudioStreams(of: participant)
        room.composition.viewsChanged()
    }

    /// Returns true if the client continues an earlier participant, which has a seat or had one a moment ago.
    func isReturning(_ request: JoinRequest, now: MonotonicInstant) -> Bool {
        request.returningAs.map { holdsPlace(of: $0, inRoom: request.room, now: now) }
            ?? (stuckPublisher(like: request) != nil)
    }

    /// Returns true if a participant has a seat, or had one a moment ago: its client may come back.
    public func holdsPlace(of publicID: String, inRoom room: String, now: MonotonicInstant) -> Bool {
        returning.contains(publicID, of: room, now: now)
            || rooms[room]?.localParticipant(publicID: publicID)?.holdsSeat == true
    }

    /// Checks that the relay takes somebody now, and that the room's door lets them in. Who returns has a place.
    func checkAdmission(of request: JoinRequest, isReturning: Bool, now: MonotonicInstant) throws(JoinError) {
        guard !isDraining || isReturning else { throw .draining }
        if let refusal = doorRefusal(of: request, isReturning: isReturning, now: now) { throw refusal }
        guard !isReturning else { return }
        if let refusal = unconnected.refusal(for: request.client, now: now) {
            joinCounters.refusedUnconnected &+= 1
            throw refusal
        }
        if let refusal = overload.refusal {
            overload.recordRefusal()
            throw .overloaded(reason: refusal.reason, retryAfter: refusal.retryAfter)
        }
    }

    /// Removes the participant that a returning client was until now.
    func removeFormer(of request: JoinRequest, now: MonotonicInstant) {
        if let former = former(of: request) { remove(former, because: .replaced, now: now) }
        if let id = request.returningAs { returning.remove(id) }
    }

    /// A returning client's role and permissions.
    func formerRights(of request: JoinRequest, now: MonotonicInstant) -> Participant.Rights? {
        guard let id = request.returningAs else {
            // Its token says what it may do now.
            return stuckPublisher(like: request).map { stuck in
                Participant.Rights(
                    grants: request.grants, moderation: stuck.moderation, hasRaisedHand: stuck.hasRaisedHand)
            }
        }
        return former(of: request)?.rights ?? returning.rights(of: id, of: request.room, now: now)
    }

    private func former(of request: JoinRequest) -> Participant? {
        guard let id = request.returningAs else { return stuckPublisher(like: request) }
        return rooms[request.room]?.localParticipant(publicID: id)
    }

    /// The publisher of whom nothing comes any more, and whose identity publishes again: an encoder whose network has
    /// changed has no key of its former session to show.
    private func stuckPublisher(like request: JoinRequest) -> Participant? {
        guard request.role == .publish, let identity = request.grants.identity else { return nil }
        return rooms[request.room]?.participants.first { member in
            member.role == .publish && member.grants.identity == identity && member.isSeated
                && member.remote == nil && member.player == nil && member.peer.connectionState == .reconnecting
        }
    }

    /// Returns the reason for which a join to this room is refused for lack of a place, if it is.
    func refusal(forRoom id: String) -> JoinError? {
        guard let room = rooms[id], room.seatCount > 0 else {
            return usedRoomCount < configuration.maximumRooms ? nil : .tooManyRooms(limit: configuration.maximumRooms)
        }
        return room.seatCount < configuration.maximumParticipants
            ? nil : .roomFull(limit: configuration.maximumParticipants)
    }

    private func hasSeat(in room: Room) -> Bool { refusal(forRoom: room.id) == nil }

    /// Rooms in which a participant has a seat.
    private var usedRoomCount: Int { rooms.values.count { $0.seatCount > 0 } }

    func leaveReason(of participant: Participant, now: MonotonicInstant) -> LeaveReason? {
        if !participant.isSeated, now - participant.joined >= UnconnectedJoins.deadline { return .neverConnected }
        return participant.isIdle(timeout: configuration.idleTimeout, now: now) ? .idle : nil
    }
}

extension Room {
    var seatCount: Int { participants.count { $0.isSeated } }
}
