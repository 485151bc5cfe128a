import Foundation
import MediaCore

/// Tells how long ago events happened, although the clock that their times are of may be set meanwhile.
///
/// A machine without a clock of its own begins with a date long past, and is set when its network is there: what
/// happened before that would be years old at once.
struct EventAges {
    /// A smaller step leaves most of the time for which events are tried.
    private static let leastStep = 600.0
    private static let mostSteps = 16

    private struct Step {
        /// The clock's last reading before the step.
        var from: Date
        var seconds: TimeInterval
    }

    private var steps: [Step] = []
    private var last: (date: Date, uptime: MonotonicInstant)?
    /// When the clock was set back: events of later than it shows had happened by then.
    private var setBack = MonotonicInstant.zero

    /// Compares the clocks. A step is known by the next call, and is not seen of events that happened since the last.
    mutating func observe(_ date: Date, uptime: MonotonicInstant) {
        defer { self.last = (date, uptime) }
        guard let last else {
            // It may have been before the program began.
            setBack = uptime
            return
        }
        let seconds = date.timeIntervalSince(last.date) - (uptime - last.uptime).seconds
        if seconds < -Self.leastStep { setBack = uptime }
        guard seconds > Self.leastStep else { return }
        if steps.count == Self.mostSteps { steps.removeFirst() }
        steps.append(Step(from: last.date, seconds: seconds))
    }

    /// The seconds that have passed since an event, by the date of the last observation; at least, where the clock was
    /// set back after it.
    func age(of happened: Date) -> TimeInterval {
        guard let last else { return 0 }
        let age = steps.reduce(last.date.timeIntervalSince(happened)) { age, step in
            happened <= step.from ? age - step.seconds : age
        }
        return age < -Self.leastStep ? (last.uptime - setBack).seconds : age
    }
}
