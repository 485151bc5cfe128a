import MediaCore
import PeerConnection

/// A connection of the relay with all that its datagrams, timers and packets need: a participant's, or a link's to
/// another relay.
class Endpoint {
    final let id: ParticipantID
    final let peer: PeerConnection
    final var nextWakeUp: MonotonicInstant
    /// The limit of what the relay receives from the endpoint.
    final var limiter = ReceiveLimiter()
    /// Packets dropped because the endpoint was over its limit.
    final var packetsRateLimited: UInt64 = 0
    /// True if the endpoint is in the relay's queue of endpoints with data to send.
    final var isQueuedForTransmit = false

    init(id: ParticipantID, peer: PeerConnection, now: MonotonicInstant) {
        self.id = id
        self.peer = peer
        nextWakeUp = now
    }

    /// Returns false if no packet of this source can be the endpoint's.
    func maySend(as ssrc: UInt32) -> Bool { true }

    /// Has the endpoint woken now.
    func wakeSoon(now: MonotonicInstant) { nextWakeUp = min(nextWakeUp, now) }
}
