internal import MediaCore

/// How many datagrams a connection looks at: as many as any handshake needs, and no more of a flood than that.
struct DatagramBudget {
    /// Datagrams that may come at once.
    static let burst = 128
    /// Datagrams a second that may come for ever.
    static let rate = 100

    private static let cost: Duration = .seconds(1) / rate
    /// Grows by the cost of each datagram, and shrinks with time.
    private var debt: Duration = .zero
    private var newest: MonotonicInstant

    init(now: MonotonicInstant) {
        newest = now
    }

    /// Whether one more datagram is to be looked at.
    mutating func take(now: MonotonicInstant) -> Bool {
        debt = max(.zero, debt - max(.zero, now - newest))
        newest = max(newest, now)
        guard debt + Self.cost <= Self.cost * Self.burst else { return false }
        debt += Self.cost
        return true
    }
}
