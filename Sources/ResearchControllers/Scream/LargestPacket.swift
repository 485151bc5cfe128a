import MediaCore

/// The largest packet of the last one or two seconds (MSS), in bytes. It may shrink, for example when video pauses and
/// audio continues.
struct LargestPacket: Sendable {
    static let initial = 1200.0
    static let period = Duration.seconds(1)

    private var current = 0.0
    private var previous = initial
    private var periodStart: MonotonicInstant

    init(now: MonotonicInstant) {
        periodStart = now
    }

    var value: Double { max(current, previous) }

    mutating func add(_ size: DataSize, now: MonotonicInstant) {
        if now - periodStart > Self.period {
            previous = max(current, 1)
            current = 0
            periodStart = now
        }
        current = max(current, Double(size.bytes))
    }
}
