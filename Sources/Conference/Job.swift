public import MediaCore

/// Names a queue whose jobs run one at a time, in order: one per codec session and per room's mixer and compositor.
public struct JobQueueID: Hashable, Sendable {
    /// The queue's number, unique within one `Relay`.
    public var rawValue: UInt64
}

/// Work that is too long for the event loop: decoding, composing, mixing, encoding.
///
/// The `Relay`'s driver runs jobs on its workers: first all that do not yield, then the others, each the earliest
/// deadline first, and one job of a queue at a time. It returns each result through `Relay.complete(_:now:)`. A job
/// that was handed out is never dropped: the relay limits jobs (one per queue) and drops frames, by explicit rules,
/// before they become jobs.
public struct Job: Sendable {
    /// The kind of work, for metrics and thread names.
    public enum Kind: String, CaseIterable, Sendable {
        case decode, compose, encode, mix
    }

    public let kind: Kind
    public let queue: JobQueueID
    /// The time at which the result is needed; a late result is still used.
    public let deadline: MonotonicInstant
    /// True if the job waits for all that the next tick needs, however late the job itself is. Otherwise late encodes
    /// would go before the next picture, and at full load every tick would be late.
    public internal(set) var yields = false
    let handedOut: MonotonicInstant
    let work: @Sendable () -> JobOutput

    /// Does the work on the calling thread.
    ///
    /// - Parameter clock: Reads the clock whose instants the relay is given, to time the work.
    public func run(clock: () -> MonotonicInstant) -> JobCompletion {
        let started = clock()
        let output = work()
        return JobCompletion(
            kind: kind, queue: queue, handedOut: handedOut, started: started, finished: clock(), output: output)
    }
}

/// A finished job's result and timing.
public struct JobCompletion: Sendable {
    public let kind: Job.Kind
    public let queue: JobQueueID
    public let handedOut: MonotonicInstant
    public let started: MonotonicInstant
    public let finished: MonotonicInstant
    let output: JobOutput

    /// True if the relay goes on with the result at once. A decoded picture waits for the next tick anyway, unless
    /// ticks are paused.
    public var isAwaited: Bool {
        if case .decoded(_, let batch) = output { batch.isAwaited } else { true }
    }
}
