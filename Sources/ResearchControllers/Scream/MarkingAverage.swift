import MediaCore

/// The share of marked packets for L4S (l4s_alpha): a fast-attack, slow-decay average
/// (draft-ietf-ccwg-rfc8298bis-screamv2, "Receiving ECN-CE for L4S").
struct MarkingAverage: Sendable {
    static let interval = 0.01

    /// The average; `lastFraction` is the last sample.
    private(set) var value = 0.0
    private(set) var lastFraction = 0.0

    private let gainUp: Double
    private let gainDown: Double
    private var delivered = 0
    private var marked = 0
    private var lastUpdate: MonotonicInstant

    init(gainUp: Double, gainDown: Double, now: MonotonicInstant) {
        self.gainUp = gainUp
        self.gainDown = gainDown
        lastUpdate = now
    }

    mutating func packetArrived(isMarked: Bool) {
        delivered += 1
        if isMarked { marked += 1 }
    }

    /// Updates the average, at most every 10 ms or once per round trip.
    mutating func update(roundTrip: Double, now: MonotonicInstant) {
        guard delivered > 0, (now - lastUpdate).seconds > min(Self.interval, roundTrip) else { return }
        lastUpdate = now
        lastFraction = Double(marked) / Double(delivered)
        value =
            lastFraction >= value
            ? value + gainUp * (lastFraction - value)
            : value * (1 - gainDown)
        delivered = 0
        marked = 0
    }
}
