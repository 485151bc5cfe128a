import Synchronization

/// A clock that stands still until it is advanced, for tests, simulations and work that is not bound to real time.
///
/// Timers fire inside `advance`, on its caller's thread, in the order of their instants (those armed first, first), and
/// while one fires `now` is its instant. One caller advances at a time, and not from within a timer's action.
public final class VirtualMediaClock: MediaClock {
    private let state: Mutex<State>

    public init(now: MonotonicInstant = .zero) {
        state = Mutex(State(now: now))
    }

    public var now: MonotonicInstant { state.withLock { $0.now } }

    /// The time of the next timer; nil while none is armed.
    public var nextDeadline: MonotonicInstant? { state.withLock { $0.nextTimer()?.deadline } }

    /// Advances the clock to `instant`. An instant that has passed only fires due timers.
    public func advance(to instant: MonotonicInstant) {
        while true {
            let action = state.withLock { state -> (@Sendable () -> Void)? in
                guard let next = state.nextTimer(), next.deadline <= max(instant, state.now) else {
                    state.now = max(state.now, instant)
                    return nil
                }
                state.now = max(state.now, next.deadline)
                return state.armed.removeValue(forKey: next.timer)?.action
            }
            guard let action else { return }
            action()
        }
    }

    /// Advances the clock. With `.zero` only due timers fire.
    public func advance(by duration: Duration) {
        advance(to: now + duration)
    }

    /// Advances the clock to the next instant at which a timer is due, and fires the timers of that instant.
    ///
    /// - Returns: True if a timer was armed.
    @discardableResult
    public func advanceToNextDeadline() -> Bool {
        guard let nextDeadline else { return false }
        advance(to: nextDeadline)
        return true
    }

    /// Returns as soon as at least `count` timers are armed: until the tasks that a test has started all sleep.
    public func waitForTimers(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isMet = state.withLock { state in
                guard state.armed.count < count else { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isMet { continuation.resume() }
        }
    }

    public func makeTimer(_ action: @escaping @Sendable () -> Void) -> any MediaTimer {
        VirtualMediaTimer(clock: self, action: action)
    }

    fileprivate func arm(
        _ timer: ObjectIdentifier, at deadline: MonotonicInstant, _ action: @escaping @Sendable () -> Void
    ) {
        let met = state.withLock { state in
            state.armed[timer] = Armed(deadline: deadline, order: state.nextOrder, action: action)
            state.nextOrder += 1
            let count = state.armed.count
            let met = state.watchers.filter { $0.count <= count }
            state.watchers.removeAll { $0.count <= count }
            return met
        }
        for watcher in met { watcher.continuation.resume() }
    }

    fileprivate func disarm(_ timer: ObjectIdentifier) {
        // The action may hold timers, so it is released outside the lock.
        _ = state.withLock { $0.armed.removeValue(forKey: timer) }
    }

    private struct Armed {
        var deadline: MonotonicInstant
        var order: Int
        var action: @Sendable () -> Void
    }

    private struct State {
        var now: MonotonicInstant
        var armed: [ObjectIdentifier: Armed] = [:]
        var nextOrder = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        /// The timer that fires first.
        func nextTimer() -> (timer: ObjectIdentifier, deadline: MonotonicInstant)? {
            armed.min { ($0.value.deadline, $0.value.order) < ($1.value.deadline, $1.value.order) }
                .map { ($0.key, $0.value.deadline) }
        }
    }
}

private final class VirtualMediaTimer: MediaTimer {
    private let clock: VirtualMediaClock
    private let action: @Sendable () -> Void

    init(clock: VirtualMediaClock, action: @escaping @Sendable () -> Void) {
        self.clock = clock
        self.action = action
    }

    deinit {
        clock.disarm(ObjectIdentifier(self))
    }

    func arm(at instant: MonotonicInstant) {
        clock.arm(ObjectIdentifier(self), at: instant, action)
    }

    func disarm() {
        clock.disarm(ObjectIdentifier(self))
    }
}
