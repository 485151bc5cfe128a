package import MediaCore

/// The part of their time that ticks have taken over the last second, and the load of the workers and of a device.
///
/// The second is divided into quarters; the oldest is dropped when a new one begins.
package struct LoadWindow: Sendable {
    private static let sliceCount = 4
    private static let sliceLength = Duration.milliseconds(250)
    /// Loads are counted in steps of this, up to twice a tick's time.
    private static let step = 0.05
    private static let binCount = 41

    /// The load from which on a tick counts as high, as a bin.
    private let highBin: Int
    /// The number of ticks of each load, slice after slice; the last bin of a slice has all higher loads.
    private var bins = [UInt32](repeating: 0, count: sliceCount * binCount)
    /// The sums of all slices.
    private var totals = [UInt32](repeating: 0, count: binCount)
    private var highTicks = [UInt32](repeating: 0, count: sliceCount)
    private var busy = [Duration](repeating: .zero, count: sliceCount)
    private var device = [Duration](repeating: .zero, count: sliceCount)
    /// The number of the quarter of a second that the newest slice covers.
    private var newest: Int64
    private var start: MonotonicInstant

    /// - Parameter bound: The load above which a tick counts as high.
    package init(highAbove bound: Double, now: MonotonicInstant) {
        highBin = Int(clamping: (bound / Self.step).rounded())
        newest = Self.number(now)
        start = now
    }

    /// Forgets all, because the circumstances have changed.
    package mutating func reset(now: MonotonicInstant) {
        for slot in 0..<Self.sliceCount { clear(slot) }
        newest = Self.number(now)
        start = now
    }

    /// Takes a tick.
    ///
    /// - Parameter load: Its duration, as a share of the time to the next one. More than 1: it was late, or was
    ///   skipped.
    package mutating func observe(load: Double, now: MonotonicInstant) {
        let bin = load > 0 ? min(Int(clamping: load / Self.step), Self.binCount - 1) : 0
        let slot = advance(to: now)
        bins[slot * Self.binCount + bin] &+= 1
        totals[bin] &+= 1
        if bin >= highBin { highTicks[slot] &+= 1 }
    }

    /// Takes the time that a job took.
    ///
    /// - Parameter deviceTime: The time for which a device did its work.
    package mutating func observe(busy duration: Duration, deviceTime: Duration, now: MonotonicInstant) {
        let slot = advance(to: now)
        busy[slot] += duration
        device[slot] += deviceTime
    }

    private static func number(_ now: MonotonicInstant) -> Int64 { max(0, now.nanoseconds / sliceLength.nanoseconds) }

    /// Begins the slices up to the present time. Returns the newest one's place.
    private mutating func advance(to now: MonotonicInstant) -> Int {
        let number = Self.number(now)
        while newest < number {
            // After a long pause nothing is left but the slices that there are.
            newest = max(newest + 1, number - Int64(Self.sliceCount) + 1)
            clear(Self.slot(newest))
        }
        return Self.slot(newest)
    }

    private static func slot(_ number: Int64) -> Int { Int(number % Int64(sliceCount)) }

    private mutating func clear(_ slot: Int) {
        for bin in 0..<Self.binCount {
            totals[bin] &-= bins[slot * Self.binCount + bin]
            bins[slot * Self.binCount + bin] = 0
        }
        highTicks[slot] = 0
        busy[slot] = .zero
        device[slot] = .zero
    }

    /// The result of the window.
    package struct Reading: Sendable {
        /// The length of the window, a second at most.
        package var length = Duration.zero
        package var ticks = 0
        /// The load that 95 % of the ticks stay below.
        package var load = 0.0
        /// Ticks with a high load, and in how many quarters of the window they are.
        var highTicks = 0
        var highSlices = 0
        /// The time that workers spent in jobs.
        package var busy = Duration.zero
        /// The time for which a device did their work.
        package var device = Duration.zero

        /// The share of their time that workers spent in jobs.
        package func busyShare(_ workers: Int) -> Double {
            length > .zero ? busy.seconds / (length.seconds * Double(max(1, workers))) : 0
        }

        /// The share of its time that a device worked.
        package var deviceShare: Double { length > .zero ? device.seconds / length.seconds : 0 }
    }

    package mutating func read(now: MonotonicInstant) -> Reading {
        _ = advance(to: now)
        var reading = Reading()
        let inSlice = Duration.nanoseconds(now.nanoseconds % Self.sliceLength.nanoseconds)
        reading.length = min(now - start, Self.sliceLength * (Self.sliceCount - 1) + inSlice)
        for slot in 0..<Self.sliceCount {
            reading.highTicks += Int(highTicks[slot])
            if highTicks[slot] > 0 { reading.highSlices += 1 }
            reading.busy += busy[slot]
            reading.device += device[slot]
        }
        for bin in 0..<Self.binCount { reading.ticks += Int(totals[bin]) }
        var (above, bin) = (0, Self.binCount)
        while bin > 0, above * 20 <= reading.ticks {
            bin -= 1
            above += Int(totals[bin])
        }
        reading.load = reading.ticks > 0 ? (Double(bin) + 0.5) * Self.step : 0
        return reading
    }
}
