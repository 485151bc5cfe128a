import MediaCore

/// Detects the application-limited region, in which the application sends clearly less than it may (libwebrtc's
/// `AlrDetector` over `IntervalBudget`, with the settings of `AlrExperimentSettings` that are on by default).
///
/// A budget fills at 80 % of the target and is spent by sending; it holds half a second of that rate, up and down. The
/// region begins when the budget is more than 40 % full and ends when it is more than 60 % overdrawn.
struct ALRDetector: Sendable {
    static let usage = 0.8
    static let startLevel = 0.4
    static let stopLevel = -0.6
    static let window = 0.5

    /// The start of the region; nil outside it.
    private(set) var start: MonotonicInstant?
    /// The remaining amount in bytes.
    private var remaining = 0.0
    private var bytesPerSecond = 0.0
    private var lastSent: MonotonicInstant?

    private var capacity: Double { bytesPerSecond * Self.window }

    /// The target changed.
    mutating func setEstimate(_ estimate: BitRate) {
        bytesPerSecond = Double(estimate.bitsPerSecond) / 8 * Self.usage
        remaining = min(max(remaining, -capacity), capacity)
    }

    mutating func packetSent(size: DataSize, now: MonotonicInstant) {
        defer { lastSent = now }
        // The time that the first packet took to be made is not known.
        guard let lastSent else { return }
        remaining = max(remaining - Double(size.bytes), -capacity)
        remaining = min(remaining + bytesPerSecond * (now - lastSent).seconds, capacity)
        let level = capacity > 0 ? remaining / capacity : 0
        if start == nil, level > Self.startLevel {
            start = now
        } else if start != nil, level < Self.stopLevel {
            start = nil
        }
    }
}
