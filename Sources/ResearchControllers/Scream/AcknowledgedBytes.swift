import MediaCore

/// The rate of acknowledged bytes, over intervals of 100 ms.
struct AcknowledgedBytes: Sendable {
    static let interval = 0.1

    /// The rate in bit/s.
    private(set) var rate = 0.0
    private var bytes = 0.0
    private var start: MonotonicInstant

    init(now: MonotonicInstant) {
        start = now
    }

    mutating func add(_ size: Double, now: MonotonicInstant) {
        bytes += size
        let elapsed = (now - start).seconds
        guard elapsed > Self.interval else { return }
        rate = bytes * 8 / elapsed
        bytes = 0
        start = now
    }
}
