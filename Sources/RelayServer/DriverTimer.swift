import MediaCore
import NIOCore

/// The one timer of the relay's driver.
///
/// It fires at the wanted instant or before: a call then finds nothing due and sets it anew. That is cheaper than to
/// set it at each change.
struct DriverTimer {
    /// Tells one setting of the timer from the next.
    typealias Setting = UInt64

    private var pending: (callback: NIOScheduledCallback, instant: MonotonicInstant)?
    private var setting: Setting = 0

    /// Sets the timer, unless one is set that fires early enough.
    ///
    /// - Parameters:
    ///   - tolerance: A timer that fires earlier than this before `instant` is set anew.
    ///   - makeHandler: Makes the handler, which calls `fired` with the setting that it is given.
    mutating func set(
        for instant: MonotonicInstant, tolerance: Duration, on eventLoop: any EventLoop,
        makeHandler: (Setting) -> some NIOScheduledCallbackHandler & Sendable
    ) {
        if let pending {
            if pending.instant <= instant, instant - pending.instant <= tolerance { return }
            cancel()
        }
        setting &+= 1
        // Fails only once the loop has ended.
        guard let callback = try? eventLoop.scheduleCallback(at: instant.deadline, handler: makeHandler(setting)) else {
            return
        }
        pending = (callback, instant)
    }

    /// Notes that the timer fired. False: that timer was cancelled when the loop had already taken it to run it.
    mutating func fired(_ setting: Setting) -> Bool {
        guard pending != nil, setting == self.setting else { return false }
        pending = nil
        return true
    }

    mutating func cancel() {
        pending?.callback.cancel()
        pending = nil
    }
}

extension MonotonicInstant {
    /// The same instant for an event loop's timer.
    fileprivate var deadline: NIODeadline { .uptimeNanoseconds(UInt64(clamping: nanoseconds)) }
}
