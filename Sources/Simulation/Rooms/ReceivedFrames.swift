import MediaCore

/// The frames that a receiver received, with their delays.
struct ReceivedFrames {
    private(set) var frames = 0
    private(set) var size = DataSize.zero
    private(set) var delays: [Duration] = []
    private(set) var longestGap = Duration.zero
    private var last: MonotonicInstant?

    init(since start: MonotonicInstant? = nil) {
        last = start
    }

    mutating func count(_ frame: RoomFrame) {
        frames += 1
        size += DataSize(bytes: frame.sample.data.count)
        if let last { longestGap = max(longestGap, frame.arrival - last) }
        last = frame.arrival
        if let time = frame.captureTime { delays.append(frame.arrival - time) }
    }

    /// Returns the delay at a percentile; zero without frames.
    func delay(percentile: Int) -> Duration {
        let sorted = delays.sorted()
        guard !sorted.isEmpty else { return .zero }
        return sorted[min(sorted.count * percentile / 100, sorted.count - 1)]
    }

    var meanDelay: Duration {
        delays.isEmpty ? .zero : delays.reduce(.zero, +) / delays.count
    }
}
