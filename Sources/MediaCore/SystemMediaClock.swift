import Dispatch

/// The machine's monotonic clock (`CLOCK_MONOTONIC`): the one that Dispatch and SwiftNIO schedule by.
public final class SystemMediaClock: MediaClock {
    public static let shared = SystemMediaClock()

    private init() {}

    public var now: MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(clamping: DispatchTime.now().uptimeNanoseconds))
    }

    /// Timers act on a global queue of user-interactive quality, one call of an action at a time.
    public func makeTimer(_ action: @escaping @Sendable () -> Void) -> any MediaTimer {
        SystemMediaTimer(action)
    }
}

/// `@unchecked Sendable` holds because Dispatch lets a source be scheduled and cancelled from any thread, and the
/// reference to it never changes.
private final class SystemMediaTimer: MediaTimer, @unchecked Sendable {
    // A timer source of its own rather than `asyncAfter`, which lets a timer be late by a tenth of its delay.
    private let source: any DispatchSourceTimer

    init(_ action: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(flags: .strict, queue: .global(qos: .userInteractive))
        source.setEventHandler(handler: action)
        source.schedule(deadline: .distantFuture)
        source.activate()
    }

    deinit {
        source.cancel()
    }

    func arm(at instant: MonotonicInstant) {
        // Dispatch takes an uptime of zero for the present, and the largest for never.
        let uptime = UInt64(max(instant.nanoseconds, 1))
        source.schedule(
            deadline: instant == .distantFuture ? .distantFuture : DispatchTime(uptimeNanoseconds: uptime),
            leeway: .nanoseconds(0))
    }

    func disarm() {
        source.schedule(deadline: .distantFuture)
    }
}
