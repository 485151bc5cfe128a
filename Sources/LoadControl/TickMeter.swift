package import MediaCore

/// Follows a room's ticks from their due time until the last of their jobs is done.
///
/// Only the newest few are followed: a tick that was overtaken by that many was late in any case.
package struct TickMeter: Sendable {
    private struct Tick: Sendable {
        var captureTime: MonotonicInstant
        var deadline: MonotonicInstant
        var pendingJobs: Int
        var finished: MonotonicInstant
    }

    private static let capacity = 4
    private var ticks: [Tick] = []

    package init() {
        ticks.reserveCapacity(Self.capacity + 1)
    }

    /// Takes a tick whose pictures are there.
    ///
    /// - Parameters:
    ///   - jobs: The number of its encode jobs.
    ///   - finished: The time at which its pictures were there.
    /// - Returns: The slack of a tick that is over, this one or one that was overtaken.
    package mutating func composed(
        _ captureTime: MonotonicInstant, interval: Duration, jobs: Int, finished: MonotonicInstant
    ) -> Double? {
        let tick = Tick(
            captureTime: captureTime, deadline: captureTime + interval, pendingJobs: jobs, finished: finished)
        guard jobs > 0 else { return Self.slack(of: tick) }
        ticks.append(tick)
        guard ticks.count > Self.capacity else { return nil }
        return Self.slack(of: ticks.removeFirst())
    }

    /// Takes an encode that is done.
    ///
    /// - Returns: The tick's slack, if this was its last job.
    package mutating func encoded(_ captureTime: MonotonicInstant, finished: MonotonicInstant) -> Double? {
        guard let index = ticks.firstIndex(where: { $0.captureTime == captureTime }) else { return nil }
        ticks[index].pendingJobs -= 1
        ticks[index].finished = max(ticks[index].finished, finished)
        guard ticks[index].pendingJobs == 0 else { return nil }
        return Self.slack(of: ticks.remove(at: index))
    }

    /// The time that was left, as a share of the time between two ticks.
    private static func slack(of tick: Tick) -> Double {
        (tick.deadline - tick.finished) / (tick.deadline - tick.captureTime)
    }
}
