import Conference
import SDP

/// The operations of the relay for HTTP requests.
extension RelayDriver {
    /// Admits a participant.
    func join(_ request: JoinRequest) throws(JoinError) -> JoinResult {
        guard !isClosed else { throw .closed }
        do throws(JoinError) {
            return try act { relay, now throws(JoinError) in try relay.join(request, now: now) }
        } catch {
            tellRefusal(error, of: request)
            throw error
        }
    }

    /// Removes a participant; `false` if it does not exist.
    func leave(room: String, participant: String) -> Bool {
        act { relay, now in relay.leave(room: room, participant: participant, now: now) }
    }

    /// Answers another offer of a participant in the room.
    func renegotiate(room: String, participant: String, offer: ReceivedOffer) throws(JoinError) -> JoinResult {
        guard !isClosed else { throw .closed }
        return try act { relay, now throws(JoinError) in
            try relay.renegotiate(room: room, participant: participant, offer: offer, now: now)
        }
    }

    /// Takes candidates; answers with new credentials when they ask for an ICE restart.
    func trickle(
        room: String, participant: String, fragment: TrickleICEFragment, ifMatch: String?
    ) throws(TrickleError) -> TrickleICEFragment? {
        try act { relay, now throws(TrickleError) in
            try relay.trickle(room: room, participant: participant, fragment: fragment, ifMatch: ifMatch, now: now)
        }
    }

    /// The state that decides whether a request may act in a room; nil if there is no such room.
    func access(ofRoom room: String, participant: String? = nil) -> RoomAccess? {
        ask { $0.access(ofRoom: room, participant: participant) }
    }

    /// Changes a room.
    func perform(_ command: RoomCommand, room: String) throws(RoomControlError) {
        try act { relay, now throws(RoomControlError) in try relay.perform(command, room: room, now: now) }
    }

    /// Takes no more joins until `endDraining`.
    ///
    /// - Parameter isMoving: Whether clients are told to go to other relays of the cluster.
    /// - Returns: Participants that are here.
    @discardableResult
    func beginDraining(isMoving: Bool) -> Int {
        feeds.isMoving = isMoving
        return act { relay, _ in
            relay.drain(isMoving: isMoving)
            return relay.occupancy.participants
        }
    }

    /// Takes joins again.
    /// - Returns: Participants that are here; nil: the relay ends, and that is not undone.
    func endDraining() -> Int? {
        guard emptyRelay == nil, !isClosed else { return nil }
        feeds.isMoving = false
        return act { relay, _ in
            relay.endDraining()
            return relay.occupancy.participants
        }
    }

    /// The relay's seats and rooms, with a number that is greater in each later reading; nil: the relay has ended, and
    /// its participants have not left by themselves.
    func readOccupancy() -> (number: UInt64, occupancy: RelayOccupancy)? {
        guard !isClosed else { return nil }
        occupancyReadings += 1
        return (occupancyReadings, relay.occupancy)
    }

    /// An id that nobody can guess, such as `output-1x8k3f0q9zv2a`.
    static func makeID(_ kind: String) -> String {
        "\(kind)-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    }
}
