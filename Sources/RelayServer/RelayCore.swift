public import Conference
public import MediaCore
public import NIOCore
public import SecureTransport

/// What the driver needs of a relay: its whole sans-I/O surface.
///
/// `Conference.Relay` is the one in the program; tests put a twin in its place to see what the server does around it.
public protocol RelayCore: AnyObject {
    /// Lets someone in.
    func join(_ request: JoinRequest, now: MonotonicInstant) throws(JoinError) -> JoinResult
    /// Shows someone out; `false` when there is no such participant.
    func leave(room: String, participant: String, now: MonotonicInstant) -> Bool
    /// Takes a datagram that arrived.
    func receive(_ datagram: ByteBuffer, from source: TransportAddress, now: MonotonicInstant)
    /// Does what is due.
    func wake(now: MonotonicInstant)
    /// When `wake` is wanted next.
    var nextWakeUp: MonotonicInstant { get }
    /// The next datagram to send.
    func pollTransmit(now: MonotonicInstant) -> (datagram: ByteBuffer, destination: TransportAddress)?
    /// The next job to run on a worker.
    func pollJob() -> Job?
    /// Takes a job's result.
    func complete(_ completion: JobCompletion, now: MonotonicInstant)
    /// Says goodbye to everyone: the farewells are then polled as datagrams.
    func close(now: MonotonicInstant)
    /// The state at this moment.
    func snapshot(now: MonotonicInstant) -> RelaySnapshot
}

extension Relay: RelayCore {}
