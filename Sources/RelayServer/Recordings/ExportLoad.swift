import LoadControl
import MediaCore

/// Decides whether calls need the machine so much that exports wait.
struct ExportLoad {
    /// The share of the workers' time above which exports wait, and below which they go on.
    private static let pauseShare = 0.7
    private static let resumeShare = 0.5

    private(set) var isHigh = false
    private var last: (busyTime: Duration, time: MonotonicInstant)?

    /// - Parameters:
    ///   - busyTime: The time that went into the workers' jobs so far.
    ///   - level: The level of overload control; nil without it.
    mutating func update(busyTime: Duration, workerCount: Int, level: OverloadLevel?, now: MonotonicInstant) {
        defer { last = (busyTime, now) }
        guard let last, now > last.time else { return }
        let share = (busyTime - last.busyTime).seconds / ((now - last.time).seconds * Double(max(1, workerCount)))
        if level ?? .normal > .normal || share > Self.pauseShare {
            isHigh = true
        } else if share < Self.resumeShare {
            isHigh = false
        }
    }
}
