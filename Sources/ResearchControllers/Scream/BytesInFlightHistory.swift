import MediaCore

/// The recent maximum of bytes in flight, which limits the growth of the window (draft-ietf-ccwg-rfc8298bis-screamv2,
/// "Status Update When Sending Data"). In bytes.
struct BytesInFlightHistory: Sendable {
    static let interval = 0.05
    static let count = 20
    /// The seconds at the start in which maxima are kept, because little is sent at first.
    static let warmUp = 2.0

    /// The maximum of the current interval; `previousMaximum` is that of the interval before.
    private(set) var maximum = 0.0
    private(set) var previousMaximum = 0.0
    private var history: [Double] = []
    private var next = 0
    private let start: MonotonicInstant
    private var lastRotation: MonotonicInstant

    init(now: MonotonicInstant) {
        start = now
        lastRotation = now
        history.reserveCapacity(Self.count)
    }

    /// The maximum of the last second.
    var longMaximum: Double { max(maximum, history.max() ?? 0) }

    mutating func add(_ bytesInFlight: Double) {
        maximum = max(maximum, bytesInFlight)
    }

    /// Begins a new interval if the current one is over; returns whether it did.
    mutating func rotate(now: MonotonicInstant) -> Bool {
        guard (now - lastRotation).seconds > Self.interval else { return false }
        lastRotation = now
        if history.count < Self.count {
            history.append(maximum)
        } else {
            history[next] = maximum
            next = (next + 1) % Self.count
        }
        if (now - start).seconds > Self.warmUp {
            previousMaximum = maximum
            maximum = 0
        }
        return true
    }
}
