import Dispatch
import MediaCore
import Synchronization
import Testing

@testable import RelayServer

/// A shared list that jobs write to, in the order they ran.
private final class Journal: Sendable {
    private let entries = Mutex<[Int]>([])

    func record(_ entry: Int) { entries.withLock { $0.append(entry) } }
    var contents: [Int] { entries.withLock { $0 } }
}

/// Holds jobs back until the test lets them go.
private final class Gate: Sendable {
    private let started = DispatchSemaphore(value: 0)
    private let released = DispatchSemaphore(value: 0)

    /// Called by a job: says that it runs, then waits.
    func pass() {
        started.signal()
        released.wait()
    }
    func waitUntilReached() async {
        await onThread { self.started.wait() }
    }
    func open(times: Int = 1) {
        for _ in 0..<times { released.signal() }
    }
}

/// Runs something that blocks away from the concurrency threads.
private func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
            body()
            continuation.resume()
        }
    }
}

@Suite("The worker pool")
struct WorkerPoolTests {
    private func makePool(
        threads: Int, capacity: Int = 1000, now: MonotonicInstant = .zero, results: Journal
    ) -> WorkerPool<Int, Int> {
        WorkerPool(threadCount: threads, capacity: capacity, now: { now }, deliver: { results.record($0) })
    }

    /// Waits for everything submitted before, by a last job on each of the queues.
    private func drain(_ pool: WorkerPool<Int, Int>, queues: [Int]) async {
        let done = DispatchSemaphore(value: 0)
        var submitted = 0
        for queue in queues {
            let isAccepted = pool.submit(
                .init(queue: queue, deadline: .distantFuture, yields: true) {
                    done.signal()
                    return -1
                })
            #expect(isAccepted)
            if isAccepted { submitted += 1 }
        }
        await onThread { [submitted] in for _ in 0..<submitted { done.wait() } }
        await pool.shutDown()
    }

    @Test("the job with the earliest deadline runs first")
    func earliestDeadlineFirst() async {
        let results = Journal()
        let gate = Gate()
        let pool = makePool(threads: 1, results: results)
        #expect(
            pool.submit(
                .init(queue: 0, deadline: .zero) {
                    gate.pass()
                    return 0
                }))
        await gate.waitUntilReached()
        for deadline in [50, 20, 40, 10, 30] {
            let job = WorkerPool<Int, Int>.Job(
                queue: deadline, deadline: MonotonicInstant(nanoseconds: Int64(deadline))
            ) { deadline }
            #expect(pool.submit(job))
        }
        gate.open()
        await drain(pool, queues: [99])
        #expect(results.contents.prefix(6) == [0, 10, 20, 30, 40, 50])
    }

    @Test("jobs that yield run after all others, however late they are")
    func yieldingJobsLast() async {
        let results = Journal()
        let gate = Gate()
        let pool = makePool(threads: 1, now: MonotonicInstant(nanoseconds: 100), results: results)
        #expect(
            pool.submit(
                .init(queue: 0, deadline: .zero) {
                    gate.pass()
                    return 0
                }))
        await gate.waitUntilReached()
        for deadline in [20, 10, 40, 30] {
            let job = WorkerPool<Int, Int>.Job(
                queue: deadline, deadline: MonotonicInstant(nanoseconds: Int64(deadline)), yields: deadline <= 20
            ) { deadline }
            #expect(pool.submit(job))
        }
        gate.open()
        await drain(pool, queues: [99])
        #expect(results.contents.filter { $0 >= 0 } == [0, 30, 40, 10, 20])
    }

    @Test("jobs of one queue run in submission order, one at a time, whatever their deadlines")
    func serialQueues() async {
        let results = Journal()
        let running = Mutex([0: 0, 1: 0, 2: 0])
        let overlaps = Atomic(0)
        let pool = makePool(threads: 4, results: results)
        var generator = SystemRandomNumberGenerator()
        for number in 0..<600 {
            let queue = number % 3
            let job = WorkerPool<Int, Int>.Job(
                queue: queue, deadline: MonotonicInstant(nanoseconds: .random(in: 0..<1000, using: &generator))
            ) {
                running.withLock {
                    $0[queue, default: 0] += 1
                    if $0[queue] != 1 { overlaps.add(1, ordering: .relaxed) }
                }
                running.withLock { $0[queue, default: 0] -= 1 }
                return number
            }
            #expect(pool.submit(job))
        }
        await drain(pool, queues: [0, 1, 2])
        #expect(overlaps.load(ordering: .relaxed) == 0)
        for queue in 0..<3 {
            let ofQueue = results.contents.filter { $0 >= 0 && $0 % 3 == queue }
            #expect(ofQueue == Array(stride(from: queue, to: 600, by: 3)))
        }
    }

    @Test("different queues run at the same time")
    func parallelQueues() async {
        let results = Journal()
        let gate = Gate()
        let pool = makePool(threads: 2, results: results)
        for queue in 0..<2 {
            #expect(
                pool.submit(
                    .init(queue: queue, deadline: .zero) {
                        gate.pass()
                        return queue
                    }))
        }
        await gate.waitUntilReached()
        await gate.waitUntilReached()
        #expect(pool.statistics.runningJobs == 2)
        gate.open(times: 2)
        await pool.shutDown()
        #expect(results.contents.sorted() == [0, 1])
    }

    @Test("a full pool refuses a job, and accepts one again when another has ended")
    func boundedCapacity() async {
        let results = Journal()
        let gate = Gate()
        let pool = makePool(threads: 1, capacity: 2, results: results)
        let waiting = WorkerPool<Int, Int>.Job(queue: 1, deadline: .zero) {
            gate.pass()
            return 1
        }
        #expect(pool.submit(waiting))
        #expect(pool.submit(waiting))
        #expect(!pool.hasRoom)
        #expect(!pool.submit(waiting))
        await gate.waitUntilReached()
        gate.open()
        await gate.waitUntilReached()
        #expect(pool.hasRoom)
        let last = WorkerPool<Int, Int>.Job(queue: 2, deadline: .zero) {
            gate.pass()
            return 2
        }
        #expect(pool.submit(last))
        gate.open()
        await gate.waitUntilReached()
        gate.open()
        await pool.shutDown()
        #expect(results.contents == [1, 1, 2])
    }

    @Test("a shutdown lets the running job end and throws queued ones away")
    func shutdownDiscardsQueuedJobs() async {
        let results = Journal()
        let gate = Gate()
        let pool = makePool(threads: 1, results: results)
        #expect(
            pool.submit(
                .init(queue: 0, deadline: .zero) {
                    gate.pass()
                    return 0
                }))
        await gate.waitUntilReached()
        for queue in 0..<10 { #expect(pool.submit(.init(queue: queue, deadline: .zero) { 100 + queue })) }
        async let shutdown: Void = pool.shutDown()
        while pool.hasRoom { await Task.yield() }
        gate.open()
        await shutdown
        #expect(results.contents == [0])
        #expect(pool.statistics.jobsDiscarded == 10)
        #expect(pool.statistics.jobsCompleted == 1)
        #expect(!pool.submit(.init(queue: 0, deadline: .zero) { 1 }))
    }

    @Test("a pool can be shut down twice, and when nothing ran")
    func shutdownTwice() async {
        let pool = makePool(threads: 3, results: Journal())
        await pool.shutDown()
        await pool.shutDown()
        #expect(pool.statistics == WorkerPoolStatistics())
    }

    @Test("jobs that start or end after their deadline are counted")
    func lateJobs() async {
        let pool = makePool(threads: 1, now: MonotonicInstant(nanoseconds: 100), results: Journal())
        #expect(pool.submit(.init(queue: 0, deadline: MonotonicInstant(nanoseconds: 99)) { 0 }))
        #expect(pool.submit(.init(queue: 0, deadline: MonotonicInstant(nanoseconds: 100)) { 0 }))
        await drain(pool, queues: [0])
        #expect(pool.statistics.jobsStartedLate == 1)
        #expect(pool.statistics.jobsFinishedLate == 1)
    }
}
