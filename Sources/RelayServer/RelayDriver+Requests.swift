import Conference
import LoadControl
import SDP
import SecureTransport

/// What HTTP requests ask of the relay.
extension RelayDriver {
    /// Lets someone in.
    func join(_ request: JoinRequest) throws(JoinError) -> JoinResult {
        guard !isClosed else { throw .closed }
        return try act { relay, now throws(JoinError) in try relay.join(request, now: now) }
    }

    /// Shows someone out; `false` when there is no such participant.
    func leave(room: String, participant: String) -> Bool {
        act { relay, now in relay.leave(room: room, participant: participant, now: now) }
    }

    /// Answers another offer of someone who is in.
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

    /// Changes a room.
    func perform(_ command: RoomCommand, room: String) throws(RoomControlError) {
        try act { relay, now throws(RoomControlError) in try relay.perform(command, room: room, now: now) }
    }

    /// Takes what the machine was measured to take for the relay's work.
    func adopt(_ calibration: Calibration) {
        act { relay, now in relay.adopt(calibration, now: now) }
    }
}
