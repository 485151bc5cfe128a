import MediaCore
import VideoCoding

/// Decides whether a device encodes a group's pictures, or composes a room's, after its failures.
///
/// After a single error the device goes on, with a connection of its own that is new. After several at once, or a call
/// that does not return, software goes on, and the device is tried again after a while that doubles.
struct HardwareFallback {
    private static let errorLimit = 3
    private static let errorWindow = Duration.seconds(2)
    private static let shortestRest = Duration.seconds(30)
    private static let longestRest = Duration.seconds(120)
    /// A device that works for this time has recovered.
    private static let recoveryTime = Duration.seconds(120)

    private var errors: [MonotonicInstant] = []
    private var lastRest: Duration?
    private var nextTry: MonotonicInstant?

    /// True if the device may encode now.
    func allowsDevice(now: MonotonicInstant) -> Bool { nextTry.map { now >= $0 } ?? true }

    /// The device failed. Returns the time for which it is left alone; nil if it goes on.
    mutating func failed(_ error: VideoCodingError, now: MonotonicInstant) -> Duration? {
        if case .hardwareHung = error { leave(now: now) } else { frameFailed(now: now) }
    }

    /// A frame failed. If it was one too many, returns the time for which the device is left alone.
    mutating func frameFailed(now: MonotonicInstant) -> Duration? {
        errors.removeAll { now - $0 >= Self.errorWindow }
        errors.append(now)
        return errors.count >= Self.errorLimit ? leave(now: now) : nil
    }

    /// The device does not answer, or makes no further encoder. Returns how long it is left alone.
    mutating func leave(now: MonotonicInstant) -> Duration {
        if let nextTry, now - nextTry >= Self.recoveryTime { lastRest = nil }
        let rest = min(lastRest.map { $0 * 2 } ?? Self.shortestRest, Self.longestRest)
        errors.removeAll(keepingCapacity: true)
        lastRest = rest
        nextTry = now + rest
        return rest
    }
}
