import MediaCore

/// When an encoder that failed is tried again: later with each failure in a row, so that an encoder that cannot be made
/// does not take the time of those that work.
struct EncoderBackoff: Sendable {
    private static let shortest = Duration.milliseconds(250)
    private static let longest = Duration.seconds(30)
    /// An encoder that works for so long has recovered. One that fails behind each keyframe has not.
    private static let recoveryTime = Duration.seconds(5)

    /// Failures in a row.
    private(set) var failures = 0
    private var nextTry: MonotonicInstant?
    private var worksSince: MonotonicInstant?

    /// Whether the encoder may be tried now.
    func allowsTry(now: MonotonicInstant) -> Bool { nextTry.map { now >= $0 } ?? true }

    /// The encoder failed.
    ///
    /// - Returns: How long it is left alone.
    mutating func failed(now: MonotonicInstant) -> Duration {
        let delay = min(Self.shortest * (1 << min(failures, 8)), Self.longest)
        failures = min(failures + 1, 1000)
        nextTry = now + delay
        worksSince = nil
        return delay
    }

    /// The encoder made a frame.
    mutating func succeeded(now: MonotonicInstant) {
        guard failures > 0 else { return }
        let since = worksSince ?? now
        worksSince = since
        guard now - since >= Self.recoveryTime else { return }
        self = EncoderBackoff()
    }
}

/// An encoder that failed: those who share it see no new pictures until it works again.
public struct EncoderFailure: Hashable, Sendable, Encodable {
    /// What went wrong, and what to do.
    public var reason: String
    /// How often in a row.
    public var failures: Int
    /// After how many milliseconds it is tried again.
    public var retryAfter: Double

    public init(reason: String, failures: Int, retryAfter: Duration) {
        self.reason = reason
        self.failures = failures
        self.retryAfter = retryAfter.milliseconds
    }
}
