import MediaCore

/// The rate at which the best receiver of each source shows it. Receivers' rates change all the time, so they are
/// checked a few times a second, and at once when a view changes.
struct ShownRates {
    private static let interval = Duration.milliseconds(500)

    private var rates: [SourceID: BitRate] = [:]
    private var next = MonotonicInstant.zero

    /// The shown rate of a source; zero for a source that nobody sees.
    subscript(source: SourceID) -> BitRate { rates[source] ?? .zero }

    /// Makes the rates be computed again, because a view has changed.
    mutating func expire() { next = .zero }

    /// Returns true if the receivers must be checked again. If so, all rates are forgotten.
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
