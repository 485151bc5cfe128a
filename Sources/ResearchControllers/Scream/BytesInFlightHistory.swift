import MediaCore

/// The most that was in flight lately, which the window must not outgrow by much
/// (draft-ietf-ccwg-rfc8298bis-screamv2, "Status Update When Sending Data"). In bytes.
struct BytesInFlightHistory: Sendable {
    static let interval = 0.05
    static let count = 20
    /// At first little is sent: the maxima are kept until this time has passed.
    static let warmUp = 2.0

    /// The most of the current time and of the one before.
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

    /// The most of the last second.
    var longMaximum: Double { max(maximum, history.max() ?? 0) }

    mutating func add(_ bytesInFlight: Double) {
        maximum = max(maximum, bytesInFlight)
    }

    /// Begins a new time where one is over; returns whether it did.
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
