/// A clock that media is timed by: the machine's, or a virtual one that tests and simulations advance.
public protocol MediaClock: AnyObject, Sendable {
    /// The present.
    var now: MonotonicInstant { get }

    /// Makes a timer that calls `action` at each instant for which it was armed. It starts disarmed.
    ///
    /// - Parameter action: Called in the clock's context, never from within `arm`, and not while it still runs.
    func makeTimer(_ action: @escaping @Sendable () -> Void) -> any MediaTimer
}

/// A timer of a `MediaClock`, which can be armed repeatedly. It is disarmed when its last reference is released.
public protocol MediaTimer: AnyObject, Sendable {
    /// Makes the timer fire once, at `instant` or as soon as possible after it, and not at an earlier armed instant.
    func arm(at instant: MonotonicInstant)

    /// Disarms the timer. A running call of its action continues.
    func disarm()
}

extension MediaClock {
    /// Returns when `instant` has come.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until instant: MonotonicInstant) async throws(CancellationError) {
        let sleeper = Sleeper()
        let timer = makeTimer { sleeper.wake() }
        try await sleeper.sleep {
            if now >= instant { sleeper.wake() } else { timer.arm(at: instant) }
        }
        timer.disarm()
    }

    /// Returns when `duration` has passed.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(for duration: Duration) async throws(CancellationError) {
        try await sleep(until: now + duration)
    }
}
