import MediaCore

/// The largest of the values of late: of the window that is under way and the one before.
struct WindowedMaximum<Value: Comparable & Sendable>: Sendable {
    private let length: Duration
    private var start = MonotonicInstant.zero
    private var previous: Value?
    private var current: Value?

    init(over length: Duration) {
        self.length = length
    }

    mutating func add(_ value: Value, now: MonotonicInstant) {
        advance(now: now)
        current = max(current ?? value, value)
    }

    /// The maximum in the window; nil if there was no value.
    mutating func value(now: MonotonicInstant) -> Value? {
        advance(now: now)
        guard let previous, let current else { return previous ?? current }
        return max(previous, current)
    }

    private mutating func advance(now: MonotonicInstant) {
        guard now - start >= length else { return }
        previous = now - start >= length * 2 ? nil : current
        current = nil
        start = now
    }
}
