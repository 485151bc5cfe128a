public import MediaCore

/// The controllers that a sender can choose from, by name.
public enum CongestionControllerKind: String, CaseIterable, Hashable, Sendable {
    /// Google congestion control.
    case google
    /// The one that follows the path's capacity from frame to frame.
    case confrelay
    /// SCReAM version 2: a window on what is in flight.
    case scream
    /// NADA: delay, losses and marks in one signal.
    case nada

    /// A controller that starts at `limits.start`.
    public func makeController(limits: RateLimits, now: MonotonicInstant) -> any CongestionController {
        switch self {
        case .google: GoogleCongestionController(limits: limits, now: now)
        case .confrelay: ConfrelayCongestionController(limits: limits, now: now)
        case .scream: ScreamCongestionController(limits: limits, now: now)
        case .nada: NADACongestionController(limits: limits)
        }
    }
}
