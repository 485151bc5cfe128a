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
