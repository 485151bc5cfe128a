import MediaCore

/// How much of their time ticks have taken over the last second, and how busy the workers were.
///
/// A second is looked at in quarters, of which the oldest goes when a new one begins.
struct LoadWindow: Sendable {
    static let sliceCount = 4
    static let sliceLength = Duration.milliseconds(250)
    /// Loads are counted in steps of this, up to twice a tick's time.
    static let step = 0.05
    private static let binCount = 41

    private struct Slice: Sendable {
        var index: Int64 = -1
        /// Ticks by load, the last for all above.
        var ticks = [UInt32](repeating: 0, count: LoadWindow.binCount)
        var busy = Duration.zero

        mutating func begin(_ index: Int64) {
            self.index = index
            for bin in ticks.indices { ticks[bin] = 0 }
            busy = .zero
        }
    }

    private var slices = [Slice](repeating: Slice(), count: sliceCount)
    private var start: MonotonicInstant

    init(now: MonotonicInstant) {
        start = now
    }

    /// Forgets all: what was before is of other circumstances.
    mutating func reset(now: MonotonicInstant) {
        start = now
        for index in slices.indices { slices[index].begin(-1) }
    }

    /// Takes a tick.
    ///
    /// - Parameter load: What it took, as a share of the time to the next one. More than 1: it was late, or was left out.
    mutating func observe(load: Double, now: MonotonicInstant) {
        let bin = load > 0 ? Int(min(load / Self.step, Double(Self.binCount - 1))) : 0
        update(now) { $0.ticks[bin] &+= 1 }
    }

    /// Takes the time that a job took.
    mutating func observe(busy: Duration, now: MonotonicInstant) {
        update(now) { $0.busy += busy }
    }

    private mutating func update(_ now: MonotonicInstant, _ change: (inout Slice) -> Void) {
        let number = Self.number(now)
        let index = Int(number % Int64(Self.sliceCount))
        guard slices.indices.contains(index) else { return }
        if slices[index].index != number { slices[index].begin(number) }
        change(&slices[index])
    }

    private static func number(_ now: MonotonicInstant) -> Int64 { now.nanoseconds / sliceLength.nanoseconds }

    /// What the window says.
    struct Reading: Sendable {
        /// How long it reaches back, a second at most.
        var length = Duration.zero
        var ticks = 0
        /// The load that 95 % of the ticks stay below.
        var load = 0.0
        /// Ticks above the bound that was asked for, and in how many quarters of the window they are.
        var highTicks = 0
        var highSlices = 0
        /// Time that workers spent in jobs.
        var busy = Duration.zero
    }

    /// - Parameter bound: The load above which a tick counts as high.
    func read(above bound: Double, now: MonotonicInstant) -> Reading {
        var reading = Reading()
        let newest = Self.number(now)
        var bins = [Int](repeating: 0, count: Self.binCount)
        let firstHigh = Int((bound / Self.step).rounded())
        for slice in slices where slice.index > newest - Int64(Self.sliceCount) && slice.index >= 0 {
            var high = 0
            for (bin, count) in slice.ticks.enumerated() {
                bins[bin] += Int(count)
                if bin >= firstHigh { high += Int(count) }
            }
            reading.highTicks += high
            if high > 0 { reading.highSlices += 1 }
            reading.busy += slice.busy
        }
        let inSlice = Duration.nanoseconds(now.nanoseconds % Self.sliceLength.nanoseconds)
        reading.length = min(now - start, Self.sliceLength * (Self.sliceCount - 1) + inSlice)
        reading.ticks = bins.reduce(0, +)
        var above = 0
        for bin in bins.indices.reversed() {
            above += bins[bin]
            guard above * 20 > reading.ticks else { continue }
            reading.load = Double(bin) * Self.step + Self.step / 2
            break
        }
        return reading
    }
}
