import MediaCore

/// The shortest one-way delay of the last minutes, in seconds: the minima of periods of 10 s (RFC 6817, section 3.4.2,
/// on which RFC 8298, section 4.1.2.1, is based). The delay is a difference of two clocks: only changes of it have a
/// meaning.
struct BaseDelayHistory: Sendable {
    static let period = Duration.seconds(10)
    static let count = 50

    private var minima: [Double] = []
    private var next = 0
    private var current = Double.infinity
    private var oldest = Double.infinity
    private var periodStart: MonotonicInstant?

    init() {
        minima.reserveCapacity(Self.count)
    }

    /// The shortest delay; infinite before the first one.
    var value: Double { min(current, oldest) }

    mutating func add(_ delay: Double, now: MonotonicInstant) {
        let start = periodStart ?? now
        periodStart = start
        current = min(current, delay)
        guard now - start >= Self.period else { return }
        if minima.count < Self.count {
            minima.append(current)
        } else {
            minima[next] = current
            next = (next + 1) % Self.count
        }
        oldest = minima.min() ?? .infinity
        current = .infinity
        periodStart = now
    }

    /// Forgets all delays, after a change of the clocks or of the path.
    mutating func reset(now: MonotonicInstant) {
        minima.removeAll(keepingCapacity: true)
        next = 0
        current = .infinity
        oldest = .infinity
        periodStart = now
    }
}
