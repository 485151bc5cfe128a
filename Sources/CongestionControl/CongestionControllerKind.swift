public import MediaCore

/// The controllers that a relay's or a client's sender can choose from, by name.
public enum CongestionControllerKind: String, CaseIterable, Hashable, Sendable {
    /// Google congestion control.
    case google
    /// The one that follows the path's capacity from frame to frame.
    case confrelay

    /// A controller that starts at `limits.start`.
    public func makeController(limits: RateLimits, now: MonotonicInstant) -> any CongestionController {
        switch self {
        case .google: GoogleCongestionController(limits: limits, now: now)
        case .confrelay: ConfrelayCongestionController(limits: limits, now: now)
        }
    }
}
