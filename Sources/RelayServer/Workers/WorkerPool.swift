import DequeModule
import Dispatch
import Foundation
import HeapModule
public import MediaCore
import RoomMedia
import Synchronization

/// A fixed set of threads that runs codec jobs, the most urgent first.
///
/// Jobs that share a queue run one after the other in the order they were submitted, so a codec session needs no lock
/// of its own. Among queues with something to do, the one whose next job has the earliest deadline runs first; jobs
/// that yield wait for all others. The pool is bounded: it refuses jobs beyond its capacity, and the caller keeps them
/// until there is room.
public final class WorkerPool<QueueID: Hashable & Sendable, Output: Sendable>: Sendable {
    /// A piece of work.
    public struct Job: Sendable {
        /// Jobs of equal queue run one at a time, in submission order.
        public var queue: QueueID
        /// The time at which the result is needed. It orders queues; a late job runs all the same.
        public var deadline: MonotonicInstant
        /// True if the job waits for all jobs that do not yield, whatever the deadlines are.
        public var yields = false
        /// The work, run on one of the pool's threads.
        public var run: @Sendable () -> Output
    }

    /// The number of threads.
    public let threadCount: Int
    /// The largest number of jobs in the pool, running ones included.
    public let capacity: Int

    private let state: Mutex<State>
    /// Holds one permit for each queue in `State.ready`, and after a shutdown one for each thread.
    private let permits = DispatchSemaphore(value: 0)
    private let threads = DispatchGroup()
    private let now: @Sendable () -> MonotonicInstant
    private let deliver: @Sendable (Output) -> Void

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - threadCount: The number of threads; at least one is started.
    ///   - capacity: The largest number of jobs.
    ///   - now: The clock of the deadlines.
    ///   - deliver: Called with each result, on the thread that made it and before the queue's next job starts.
    public init(
        threadCount: Int,
        capacity: Int,
        now: @escaping @Sendable () -> MonotonicInstant,
        deliver: @escaping @Sendable (Output) -> Void
    ) {
        self.threadCount = max(1, threadCount)
        self.capacity = max(1, capacity)
        self.now = now
        self.deliver = deliver
        state = Mutex(State())
        for index in 0..<self.threadCount {
            threads.enter()
            Thread.detach(named: "codec-\(index)") { [self] in
                runJobs()
                threads.leave()
            }
        }
    }

    /// Queues a job.
    ///
    /// - Returns: `false`, and the job is not taken, when the pool is full or shut down.
    public func submit(_ job: Job) -> Bool {
        let outcome = state.withLock { state -> (accepted: Bool, isReady: Bool) in
            guard !state.isShutDown, state.jobCount < capacity else { return (false, false) }
            return (true, state.enqueue(job))
        }
        if outcome.isReady { permits.signal() }
        return outcome.accepted
    }

    /// True if `submit` would accept a job now.
    public var hasRoom: Bool {
        state.withLock { !$0.isShutDown && $0.jobCount < capacity }
    }

    /// The pool's work so far and its present jobs.
    public var statistics: WorkerPoolStatistics {
        state.withLock { $0.statistics }
    }

    /// Lets running jobs finish, discards queued ones and waits until every thread has ended.
    public func shutDown() async {
        let isFirst = state.withLock { $0.shutDown() }
        if isFirst {
            for _ in 0..<threadCount { permits.signal() }
        }
        await withCheckedContinuation { continuation in
            threads.notify(queue: .global()) { continuation.resume() }
        }
    }

    private func runJobs() {
        while true {
            permits.wait()
            let started = now()
            guard let job = state.withLock({ $0.startNext(now: started) }) else { return }
            deliver(job.run())
            let finished = now()
            let isReady = state.withLock { state in
                state.finish(queue: job.queue, deadline: job.deadline, took: finished - started, now: finished)
            }
            if isReady { permits.signal() }
        }
    }
}

extension WorkerPool {
    /// A queue that has a job to run and runs none.
    private struct ReadyQueue: Comparable {
        var yields: Bool
        var deadline: MonotonicInstant
        /// Breaks ties in favour of the queue that became ready first.
        var ordinal: UInt64
        var queue: QueueID

        static func < (left: ReadyQueue, right: ReadyQueue) -> Bool {
            left.yields == right.yields
                ? (left.deadline, left.ordinal) < (right.deadline, right.ordinal) : right.yields
        }
        static func == (left: ReadyQueue, right: ReadyQueue) -> Bool {
            left.ordinal == right.ordinal
        }
    }

    /// The state that the lock guards. A queue is in `jobs` from its first job's submission until it is empty and idle,
    /// and in `ready` while it has a job and none of its jobs runs.
    private struct State {
        private var jobs: [QueueID: Deque<Job>] = [:]
        private var ready = Heap<ReadyQueue>()
        private var nextOrdinal: UInt64 = 0
        private(set) var statistics = WorkerPoolStatistics()
        private(set) var isShutDown = false

        var jobCount: Int { statistics.queuedJobs + statistics.runningJobs }

        /// Adds a job and says whether its queue became ready by it.
        mutating func enqueue(_ job: Job) -> Bool {
            statistics.queuedJobs += 1
            if jobs[job.queue]?.append(job) != nil { return false }
            jobs[job.queue] = [job]
            markReady(job)
            return true
        }

        /// Takes the most urgent job; nil after a shutdown.
        mutating func startNext(now: MonotonicInstant) -> Job? {
            guard !isShutDown, let next = ready.popMin(), let job = jobs[next.queue]?.popFirst() else { return nil }
            statistics.queuedJobs -= 1
            statistics.runningJobs += 1
            if now > job.deadline { statistics.jobsStartedLate += 1 }
            return job
        }

        /// Records the end of a queue's job. Returns true if the queue is ready again.
        mutating func finish(
            queue: QueueID, deadline: MonotonicInstant, took duration: Duration, now: MonotonicInstant
        ) -> Bool {
            statistics.runningJobs -= 1
            statistics.jobsCompleted += 1
            statistics.busyTime += duration
            if now > deadline { statistics.jobsFinishedLate += 1 }
            guard let next = jobs[queue]?.first else {
                jobs[queue] = nil
                return false
            }
            markReady(next)
            return true
        }

        /// Throws queued jobs away; false when that was done before.
        mutating func shutDown() -> Bool {
            guard !isShutDown else { return false }
            isShutDown = true
            statistics.jobsDiscarded += statistics.queuedJobs
            statistics.queuedJobs = 0
            jobs.removeAll()
            ready = Heap()
            return true
        }

        private mutating func markReady(_ job: Job) {
            ready.insert(ReadyQueue(yields: job.yields, deadline: job.deadline, ordinal: nextOrdinal, queue: job.queue))
            nextOrdinal += 1
        }
    }
}

/// A worker pool's work so far and its present jobs.
public struct WorkerPoolStatistics: Sendable, Equatable {
    /// Jobs waiting for a thread or for their queue's previous job.
    public var queuedJobs = 0
    /// Jobs running now.
    public var runningJobs = 0
    /// Jobs that ran to their end.
    public var jobsCompleted = 0
    /// Jobs whose deadline had passed when they started.
    public var jobsStartedLate = 0
    /// Jobs whose deadline had passed when they ended.
    public var jobsFinishedLate = 0
    /// Jobs thrown away by a shutdown.
    public var jobsDiscarded = 0
    /// The time spent in jobs, summed over all threads.
    public var busyTime = Duration.zero

    public init() {}
}
