import MediaCore

/// Tells how long the rest of a pass will take, by how long its last part took.
struct ExportPace {
    /// The least time for which the present pace is known, and the longest time of which it is the mean.
    private static let leastTime = Duration.seconds(1)
    private static let window = Duration.seconds(20)

    private var pass: Int?
    private var marks: [(time: Duration, fraction: Double)] = []

    /// - Parameters:
    ///   - fraction: How much of the pass is done, from 0 to 1.
    ///   - time: The time since any moment.
    mutating func remaining(pass: Int, fraction: Double, at time: Duration) -> Duration? {
        if pass != self.pass || fraction < marks.last?.fraction ?? 0 {
            self.pass = pass
            marks = [(time, fraction)]
            return nil
        }
        // A mark a second: no more than the window has seconds.
        if time - marks[marks.count - 1].time >= Self.leastTime { marks.append((time, fraction)) }
        while marks.count > 2, time - marks[1].time >= Self.window { marks.removeFirst() }
        let first = marks[0]
        guard time - first.time >= Self.leastTime, fraction > first.fraction else { return nil }
        let pace = (fraction - first.fraction) / (time - first.time).seconds
        return .seconds(clamping: (1 - min(fraction, 1)) / pace)
    }
}
