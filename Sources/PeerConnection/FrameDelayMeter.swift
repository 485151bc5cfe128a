/// Measures the time from reading a frame's target until the frame is handed to the pacer.
struct FrameDelayMeter {
    /// The least change that is reported.
    private static let resolution = Duration.milliseconds(1)
    /// The approximate number of frames in the mean.
    private static let memory = 8

    private var mean: Duration?
    private var told = Duration.zero

    /// Adds a frame; returns the mean if it must be reported.
    mutating func add(_ delay: Duration) -> Duration? {
        let mean = mean.map { $0 + (delay - $0) / Self.memory } ?? delay
        self.mean = mean
        let change = mean - told
        guard change >= Self.resolution || change <= .zero - Self.resolution else { return nil }
        told = mean
        return mean
    }
}
