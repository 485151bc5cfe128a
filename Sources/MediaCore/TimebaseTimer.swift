import Synchronization

/// A timer of a `Timebase`, which can be armed repeatedly: it fires when the timebase reaches a time, whatever happens
/// to the rates and times of the timebase and its sources meanwhile. It is disarmed when its last reference is
/// released.
public final class TimebaseTimer: Sendable, TimebaseObserver {
    private struct State {
        /// The time that the timer waits for.
        var target: MediaTime?
        var isForwardOnly = false
        var clockTimer: (any MediaTimer)?
    }

    private let timebase: Timebase
    /// True if the caller that changes the timebase may call the action, rather than the clock's context.
    private let firesAtChanges: Bool
    private let action: @Sendable () -> Void
    private let state = Mutex(State())

    init(_ timebase: Timebase, firesAtChanges: Bool, _ action: @escaping @Sendable () -> Void) {
        self.timebase = timebase
        self.firesAtChanges = firesAtChanges
        self.action = action
        let clockTimer = timebase.clock.makeTimer { [weak self] in self?.clockFired() }
        state.withLock { $0.clockTimer = clockTimer }
        timebase.add(observer: self)
    }

    /// Makes the timer fire once, when the timebase reaches `time` in the direction in which it runs then.
    ///
    /// - Parameter forwardOnly: True to wait, while the timebase runs backward, until it runs forward again.
    /// - Returns: False if that time has been reached already. Then the timer is disarmed and does not fire.
    @discardableResult
    public func arm(at time: MediaTime, forwardOnly: Bool = false) -> Bool {
        state.withLock { state in
            state.target = time
            state.isForwardOnly = forwardOnly
            guard !schedule(&state) else { return true }
            state.target = nil
            state.clockTimer?.disarm()
            return false
        }
    }

    /// Disarms the timer. A running call of its action continues.
    public func disarm() {
        state.withLock { state in
            state.target = nil
            state.clockTimer?.disarm()
        }
    }

    func timebaseChanged() {
        let isDue = state.withLock { state in
            guard state.target != nil, !schedule(&state) else { return false }
            guard firesAtChanges else {
                state.clockTimer?.arm(at: timebase.clock.now)
                return false
            }
            state.target = nil
            state.clockTimer?.disarm()
            return true
        }
        if isDue { action() }
    }

    private func clockFired() {
        let isDue = state.withLock { state in
            // The timebase may have been changed since the clock's timer was armed, or the timer disarmed.
            guard state.target != nil, !schedule(&state) else { return false }
            state.target = nil
            return true
        }
        if isDue { action() }
    }

    /// Arms the clock's timer for the target.
    ///
    /// - Returns: False if the target has been reached.
    private func schedule(_ state: inout State) -> Bool {
        guard let target = state.target else { return true }
        let now = timebase.clock.now
        guard !timebase.reading(at: now).hasReached(target, forwardOnly: state.isForwardOnly) else { return false }
        if let instant = timebase.instant(of: target), instant > now {
            state.clockTimer?.arm(at: instant)
        } else {
            state.clockTimer?.disarm()
        }
        return true
    }
}
