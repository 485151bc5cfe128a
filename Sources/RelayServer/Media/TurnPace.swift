import MediaCore

/// Decides when the driver has its next turn while datagrams keep coming.
///
/// A turn has fixed costs: a wake-up, a look at each participant's timers, a timer of its own. When a datagram comes
/// after a silence, its turn is at once. While datagrams follow each other within less than `interval`, the driver
/// reads the socket once per interval, and does due work in the same turn.
struct TurnPace {
    /// The time between two turns of a busy socket. It is added to the way of a datagram, half of it in the mean.
    static let interval = Duration.milliseconds(1)

    /// True if the socket is read at each turn. Otherwise it tells when there is something to read.
    private(set) var isBusy = false
    /// The latest time of the next turn; nil: nothing but datagrams and timers asks for one.
    private(set) var nextTurn: MonotonicInstant?
    private var lastDatagrams: MonotonicInstant?

    /// Notes a turn.
    ///
    /// - Parameters:
    ///   - datagramCount: The datagrams that the turn took from the socket.
    ///   - isFull: Whether more may wait there.
    mutating func noteTurn(datagramCount: Int, isFull: Bool, now: MonotonicInstant) {
        let isSilent = lastDatagrams.map { now - $0 >= Self.interval } ?? true
        if datagramCount > 0 {
            isBusy = isBusy || !isSilent || isFull
            lastDatagrams = now
        } else if isSilent {
            isBusy = false
        }
        nextTurn = isBusy ? (isFull ? now : now + Self.interval) : nil
    }
}
