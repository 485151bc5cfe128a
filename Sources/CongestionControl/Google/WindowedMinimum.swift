import MediaCore

/// The lowest value of the last while: of the current window and the one before.
struct WindowedMinimum<Value: Comparable & Sendable>: Sendable {
    let window: Duration
    private var current: Value?
    private var previous: Value?
    private var windowStart = MonotonicInstant.zero

    init(window: Duration) {
        self.window = window
    }

    /// The lowest value of at least one window and at most two; nil before the first.
    var value: Value? {
        guard let current else { return nil }
        return previous.map { min($0, current) } ?? current
    }

    mutating func add(_ value: Value, now: MonotonicInstant) {
        guard let lowest = current else {
            current = value
            windowStart = now
            return
        }
        if now - windowStart > window {
            previous = lowest
            current = value
            windowStart = now
        } else {
            current = min(lowest, value)
        }
    }
}
