import MediaCore

/// Estimates the due times of frames whose timestamps come from another clock, on our clock, for sender reports. The
/// fastest frames are the measure, so that jitter has no effect.
package struct ForwardingClock {
    private static let window = Duration.seconds(2)
    /// No path delays a frame by more: then the timestamps have jumped.
    private static let longestDelay = Duration.seconds(10)

    private let clockRate: Int32
    private var timestamp: UInt32
    private var instant: MonotonicInstant
    private var windowStart: MonotonicInstant
    private var earliest: Duration?

    /// - Parameters:
    ///   - clockRate: The clock rate of the timestamps.
    ///   - arrival: The arrival of the first packet of the timestamp's frame.
    init(clockRate: Int32, timestamp: UInt32, arrival: MonotonicInstant) {
        self.clockRate = clockRate
        self.timestamp = timestamp
        instant = arrival
        windowStart = arrival
    }

    /// A frame's first packet has come.
    mutating func observe(timestamp: UInt32, arrival: MonotonicInstant) {
        let lateness = lateness(timestamp: timestamp, arrival: arrival)
        guard max(lateness, .zero - lateness) <= Self.longestDelay else {
            self = ForwardingClock(clockRate: clockRate, timestamp: timestamp, arrival: arrival)
            return
        }
        earliest = min(earliest ?? lateness, lateness)
        guard arrival - windowStart >= Self.window, let earliest else { return }
        instant = due(timestamp) + earliest
        self.timestamp = timestamp
        windowStart = arrival
        self.earliest = nil
    }

    func timestamp(at now: MonotonicInstant) -> UInt32 {
        let ticks = MediaTime(value: (now - instant).nanoseconds, timescale: 1_000_000_000)
            .converted(toTimescale: clockRate).value
        return timestamp &+ UInt32(truncatingIfNeeded: ticks)
    }

    /// Returns the delay of a frame relative to the fastest one.
    func lateness(timestamp: UInt32, arrival: MonotonicInstant) -> Duration { arrival - due(timestamp) }

    /// Returns the due time of a frame.
    func due(_ timestamp: UInt32) -> MonotonicInstant {
        let ticks = Int64(Int32(bitPattern: timestamp &- self.timestamp))
        return instant + .nanoseconds(ticks * 1_000_000_000 / Int64(clockRate))
    }
}
