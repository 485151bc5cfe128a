import MediaCore

@testable import Conference

/// A worker pool on virtual time: jobs that do not yield first, then the earliest deadline, then the one that came
/// first.
struct ModelledPool {
    private let workers: Int
    private var waiting: [Job] = []
    private var running: [JobCompletion] = []

    init(workers: Int) {
        self.workers = workers
    }

    mutating func submit(_ job: Job) { waiting.append(job) }

    /// Begins as many jobs as there are workers for.
    mutating func start(lasting duration: (Job.Kind) -> Duration, now: MonotonicInstant) {
        while running.count < workers, let index = next {
            let job = waiting.remove(at: index)
            let completion = job.run { now }
            running.append(
                JobCompletion(
                    kind: completion.kind, queue: completion.queue, handedOut: completion.handedOut, started: now,
                    finished: now + duration(job.kind), output: completion.output))
        }
    }

    private var next: Int? {
        waiting.indices.min { left, right in
            let (left, right) = (waiting[left], waiting[right])
            return left.yields == right.yields ? left.deadline < right.deadline : right.yields
        }
    }

    var nextCompletion: MonotonicInstant { running.map(\.finished).min() ?? .distantFuture }

    mutating func popCompletion(now: MonotonicInstant) -> JobCompletion? {
        running.firstIndex { $0.finished <= now }.map { running.remove(at: $0) }
    }
}
