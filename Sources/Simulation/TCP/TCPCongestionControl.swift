internal import MediaCore

/// The congestion control of a simulated TCP sender.
public enum TCPVariant: String, Hashable, Sendable, CaseIterable {
    /// Reno (RFC 5681).
    case reno
    /// CUBIC (RFC 9438).
    case cubic
}

/// The congestion window, in segments.
struct TCPCongestionControl: Sendable {
    /// The initial window (RFC 6928).
    static let initialWindow = 10.0
    /// The smallest slow-start threshold (RFC 5681, section 3.1).
    static let minimumThreshold = 2.0

    let variant: TCPVariant
    private(set) var window = Self.initialWindow
    private(set) var threshold = Double.infinity
    private var cubic = CubicWindow()

    init(variant: TCPVariant) {
        self.variant = variant
    }

    var isInSlowStart: Bool { window < threshold }

    /// Grows the window after segments were acknowledged, outside of recovery.
    mutating func acknowledged(_ segments: Int, roundTripTime: Duration, now: MonotonicInstant) {
        var segments = Double(segments)
        if isInSlowStart {
            let growth = min(segments, threshold - window)
            window += growth
            segments -= growth
            guard segments > 0 else { return }
        }
        switch variant {
        case .reno: window += segments / window
        case .cubic: window = cubic.grow(window, by: segments, roundTripTime: roundTripTime, now: now)
        }
    }

    /// Reduces the window after a loss or a mark: at most once per round trip.
    mutating func reduce(now: MonotonicInstant) {
        switch variant {
        case .reno: threshold = max(window / 2, Self.minimumThreshold)
        case .cubic: threshold = max(cubic.reduce(window), Self.minimumThreshold)
        }
        window = threshold
    }

    /// Resets the window after a retransmission timeout.
    mutating func timedOut(now: MonotonicInstant) {
        reduce(now: now)
        window = 1
    }
}

/// CUBIC's growth outside of slow start (RFC 9438, section 4).
struct CubicWindow: Sendable {
    /// The constant C, in segments per second cubed.
    static let scale = 0.4
    static let decrease = 0.7
    /// The factor that makes the Reno-friendly estimate as fair as Reno: 3 (1 - β) / (1 + β).
    static let friendlyIncrease = 3 * (1 - decrease) / (1 + decrease)

    /// The window at the last reduction (W_max), which fast convergence lowers.
    private(set) var maximum = 0.0
    /// The time and the window at which the present growth began.
    private var epoch: (start: MonotonicInstant, window: Double)?
    /// The window that Reno would have (W_est).
    private var friendly = 0.0

    /// Returns W_cubic after a time of growth from `start` (section 4.2).
    static func window(at seconds: Double, maximum: Double, start: Double) -> Double {
        let distance = seconds - timeToMaximum(maximum: maximum, start: start)
        return scale * distance * distance * distance + maximum
    }

    /// Returns K: the time that growth takes to the last maximum.
    static func timeToMaximum(maximum: Double, start: Double) -> Double {
        maximum > start ? cubeRoot((maximum - start) / scale) : 0
    }

    /// Returns the window after segments were acknowledged.
    mutating func grow(
        _ window: Double, by segments: Double, roundTripTime: Duration, now: MonotonicInstant
    ) -> Double {
        if epoch == nil {
            epoch = (now, window)
            friendly = window
            if maximum < window { maximum = window }
        }
        guard let epoch else { return window }
        let elapsed = (now - epoch.start).seconds
        let target = Self.window(at: elapsed + roundTripTime.seconds, maximum: maximum, start: epoch.window)
        // Beyond the old maximum, Reno's own increase is as fair (section 4.3).
        let increase = friendly >= maximum ? 1 : Self.friendlyIncrease
        friendly += increase * segments / window
        if Self.window(at: elapsed, maximum: maximum, start: epoch.window) < friendly { return max(friendly, window) }
        let bounded = min(max(target, window), 1.5 * window)
        return window + (bounded - window) / window * segments
    }

    /// Returns the window after a loss.
    mutating func reduce(_ window: Double) -> Double {
        // If the flow has a loss before it returns to its maximum, it makes room for a new flow (fast convergence,
        // section 4.7).
        maximum = window < maximum ? window * (1 + Self.decrease) / 2 : window
        epoch = nil
        return window * Self.decrease
    }

    /// Computes the root with Newton's method, so that every machine gets the same bits.
    static func cubeRoot(_ value: Double) -> Double {
        guard value > 0 else { return 0 }
        var root = max(value, 1)
        for _ in 0..<200 {
            let next = (2 * root + value / (root * root)) / 3
            guard next < root else { break }
            root = next
        }
        return root
    }
}
