package import MediaCore

/// The time at which a failed encoder is tried again: later with each consecutive failure, so that an encoder that
/// cannot be made does not take the time of those that work.
package struct EncoderBackoff: Sendable {
    private static let shortest = Duration.milliseconds(250)
    private static let longest = Duration.seconds(30)
    /// The time after which a working encoder has recovered. One that fails after each keyframe has not.
    private static let recoveryTime = Duration.seconds(5)

    /// Failures in a row.
    package private(set) var failures = 0
    private var nextTry: MonotonicInstant?
    private var worksSince: MonotonicInstant?

    package init() {}

    /// Returns true if the encoder may be tried now.
    package func allowsTry(now: MonotonicInstant) -> Bool { nextTry.map { now >= $0 } ?? true }

    /// Records a failure of the encoder.
    ///
    /// - Returns: The time until the next attempt.
    package mutating func failed(now: MonotonicInstant) -> Duration {
        let delay = min(Self.shortest * (1 << min(failures, 8)), Self.longest)
        failures = min(failures + 1, 1000)
        nextTry = now + delay
        worksSince = nil
        return delay
    }

    /// The encoder made a frame.
    package mutating func succeeded(now: MonotonicInstant) {
        guard failures > 0 else { return }
        let since = worksSince ?? now
        worksSince = since
        guard now - since >= Self.recoveryTime else { return }
        self = EncoderBackoff()
    }
}
