import MediaCore

/// The rate at which the best receiver of each source shows it. Receivers' rates change all the time, so that they are
/// looked at a few times a second, and at once where somebody sees something else.
struct ShownRates {
    private static let interval = Duration.milliseconds(500)

    private var rates: [SourceID: BitRate] = [:]
    private var next = MonotonicInstant.zero

    /// Zero for a source that nobody sees.
    subscript(source: SourceID) -> BitRate { rates[source] ?? .zero }

    /// Somebody is to see something else.
    mutating func expire() { next = .zero }

    /// Whether the receivers are to be looked at again. If so, all rates are forgotten.
    mutating func isDue(now: MonotonicInstant) -> Bool {
        guard now >= next else { return false }
        next = now + Self.interval
        rates.removeAll(keepingCapacity: true)
        return true
    }

    /// Adds how a receiver shows a source.
    mutating func add(_ view: UplinkPrice.View, of source: SourceID) {
        rates[source] = max(self[source], UplinkPrice.shownRate(view))
    }
}
