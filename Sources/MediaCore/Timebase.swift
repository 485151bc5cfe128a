import Synchronization

/// A controllable view of a clock, or of another timebase: a time that can be set, and a rate at which it runs.
///
/// A new timebase stands still at time zero. Its time is always computed from an anchor, a time of its own that
/// corresponds to a time of its source, so that no error adds up while it runs. Rates 1, 2, 0.5 and 0 are exact,
/// negative ones run backward. Safe to use from any thread.
///
/// A time that cannot be represented exactly is rounded in the direction in which the timebase runs, so that a time for
/// which `sleep(until:)` waited has come when it returns.
public final class Timebase: Sendable {
    private enum Source {
        case clock(any MediaClock)
        case timebase(Timebase)
    }

    private struct State {
        var anchorTime = MediaTime.zero
        var anchorSourceTime: MediaTime
        var rate = TimebaseRate(0)
        var observers: [Observer] = []
    }

    private struct Observer {
        weak var value: (any TimebaseObserver)?
    }

    /// The clock at the end of the chain.
    public let clock: any MediaClock
    private let source: Source
    private let state: Mutex<State>

    /// Makes a timebase that runs by a clock.
    public init(clock: any MediaClock) {
        self.clock = clock
        source = .clock(clock)
        state = Mutex(State(anchorSourceTime: MediaTime(clock.now)))
    }

    /// Makes a timebase that runs by another one: while that stands still, so does this.
    public init(source: Timebase) {
        clock = source.clock
        self.source = .timebase(source)
        state = Mutex(State(anchorSourceTime: source.time))
        source.add(observer: self)
    }

    // MARK: Reading

    public var time: MediaTime { time(at: clock.now) }

    /// The rate of the time by its source.
    public var rate: Double { state.withLock { $0.rate.value } }

    /// The rate of the time by the clock: the product of all rates up the chain.
    public var effectiveRate: Double {
        switch source {
        case .clock: rate
        case .timebase(let timebase): rate * timebase.effectiveRate
        }
    }

    /// The time at an instant of the clock, as things are now. Invalid where an invalid time was set.
    public func time(at instant: MonotonicInstant) -> MediaTime { reading(at: instant).time }

    /// Returns the first instant of the clock at which `time` is reached, with the present settings. It may have
    /// passed.
    ///
    /// - Returns: Nil if the time stands still, or if either time is no number.
    public func instant(of time: MediaTime) -> MonotonicInstant? {
        let (anchorTime, anchorSourceTime, rate) = state.withLock { ($0.anchorTime, $0.anchorSourceTime, $0.rate) }
        guard time.isNumeric, anchorTime.isNumeric, !rate.isZero else { return nil }
        let sourceDirection = sourceDirection
        guard sourceDirection != 0 else { return nil }
        let sourceRounding = Self.rounding(inDirection: sourceDirection)
        let sourceTime = anchorSourceTime.adding(
            time.subtracting(
                anchorTime, rounding: Self.rounding(inDirection: sourceDirection * rate.numerator.signum())
            )
            .multiplied(by: rate.denominator, over: rate.numerator, rounding: sourceRounding),
            rounding: sourceRounding)
        switch source {
        case .clock:
            return MonotonicInstant(
                nanoseconds: sourceTime.converted(toTimescale: MediaTime.nanosecondTimescale, rounding: .up).value)
        case .timebase(let timebase):
            return timebase.instant(of: sourceTime)
        }
    }

    // MARK: Setting

    /// Sets the time. The rate does not change.
    ///
    /// - Parameter time: A non-numeric time is kept until another is set, and sleepers wait for that.
    public func setTime(_ time: MediaTime) {
        change { state, sourceTime in
            state.anchorTime = time
            state.anchorSourceTime = sourceTime
        }
    }

    /// Sets the rate. The time continues from its present value.
    ///
    /// - Parameter rate: 1 for the source's own, 0 to stand still, negative to run backward; within ±2²⁰. A rate that
    ///   is not finite counts as 0.
    public func setRate(_ rate: Double) {
        let rate = TimebaseRate(rate)
        change { state, sourceTime in
            // A new anchor may be rounded; without one nothing can add up.
            guard rate != state.rate else { return }
            state.anchorTime = Self.time(sourceTime, state: state, sourceDirection: self.sourceDirection)
            state.anchorSourceTime = sourceTime
            state.rate = rate
        }
    }

    /// Sets the rate and the time at once.
    public func setRate(_ rate: Double, time: MediaTime) {
        change { state, sourceTime in
            state.anchorTime = time
            state.anchorSourceTime = sourceTime
            state.rate = TimebaseRate(rate)
        }
    }

    // MARK: Waiting

    /// Returns when `time` has been reached in the direction in which the timebase runs, at once if it was already.
    ///
    /// Changes of time and rate made meanwhile, here or anywhere up the chain, apply at once. At rate 0 a time that
    /// lies ahead is not reached.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until time: MediaTime) async throws(CancellationError) {
        let sleeper = Sleeper()
        // Waking a task runs nothing of it, so the caller that changes the timebase may do it.
        let timer = TimebaseTimer(self, firesAtChanges: true) { sleeper.wake() }
        try await sleeper.sleep {
            if !timer.arm(at: time) { sleeper.wake() }
        }
        timer.disarm()
    }

    /// Makes a timer that calls `action` each time that the timebase reaches a time for which it was armed.
    ///
    /// - Parameter action: Called in the clock's context: on a queue of the machine's clock, inside `advance` of a
    ///   virtual one; never by the caller that sets a time.
    public func makeTimer(_ action: @escaping @Sendable () -> Void) -> TimebaseTimer {
        TimebaseTimer(self, firesAtChanges: false, action)
    }

    // MARK: Computing

    /// A time, and whether it has reached another.
    struct Reading {
        var time: MediaTime
        /// -1 if the time runs backward, 0 if it stands still, otherwise 1.
        var direction: Int64

        func hasReached(_ other: MediaTime, forwardOnly: Bool) -> Bool {
            guard time.isValid, !time.isIndefinite else { return false }
            if direction >= 0 { return time >= other }
            return !forwardOnly && time <= other
        }
    }

    func reading(at instant: MonotonicInstant) -> Reading {
        let sourceTime = sourceTime(at: instant)
        let sourceDirection = sourceDirection
        return state.withLock { state in
            Reading(
                time: Self.time(sourceTime, state: state, sourceDirection: sourceDirection),
                direction: sourceDirection * state.rate.numerator.signum())
        }
    }

    private func sourceTime(at instant: MonotonicInstant) -> MediaTime {
        switch source {
        case .clock: MediaTime(instant)
        case .timebase(let timebase): timebase.time(at: instant)
        }
    }

    private var sourceDirection: Int64 {
        switch source {
        case .clock: 1
        case .timebase(let timebase): timebase.direction
        }
    }

    private var direction: Int64 { sourceDirection * state.withLock { $0.rate.numerator.signum() } }

    private static func time(_ sourceTime: MediaTime, state: State, sourceDirection: Int64) -> MediaTime {
        guard !state.rate.isZero else { return state.anchorTime }
        let rounding = rounding(inDirection: sourceDirection * state.rate.numerator.signum())
        let elapsed = sourceTime.subtracting(
            state.anchorSourceTime, rounding: Self.rounding(inDirection: sourceDirection))
        return state.anchorTime.adding(
            elapsed.multiplied(by: state.rate.numerator, over: state.rate.denominator, rounding: rounding),
            rounding: rounding)
    }

    private static func rounding(inDirection direction: Int64) -> FloatingPointRoundingRule {
        direction < 0 ? .down : .up
    }

    // MARK: Changing

    /// Changes the state at the source's present time, and notifies all observers.
    private func change(_ body: (inout State, _ sourceTime: MediaTime) -> Void) {
        state.withLock { state in body(&state, sourceTime(at: clock.now)) }
        timebaseChanged()
    }

    func add(observer: some TimebaseObserver) {
        state.withLock { state in
            state.observers.removeAll { $0.value == nil }
            state.observers.append(Observer(value: observer))
        }
    }
}

/// An observer of a timebase's changes.
protocol TimebaseObserver: AnyObject, Sendable {
    /// The timebase, or one up the chain, got another time or rate.
    func timebaseChanged()
}

extension Timebase: TimebaseObserver {
    func timebaseChanged() {
        // Observers read the timebase, so they are called outside the lock.
        for observer in state.withLock({ $0.observers }) { observer.value?.timebaseChanged() }
    }
}
