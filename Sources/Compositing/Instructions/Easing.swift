/// How a change spreads over its time.
public enum Easing: String, Codable, Hashable, Sendable, CaseIterable {
    /// Evenly.
    case linear
    /// Slow at first (t²).
    case easeIn = "ease-in"
    /// Slow at last (1 - (1 - t)²).
    case easeOut = "ease-out"
    /// Slow at first and at last (smoothstep, 3t² - 2t³).
    case easeInOut = "ease-in-out"

    /// How much has changed once `factor` of the time has passed, from 0 to 1.
    public func eased(_ factor: TweenFactor) -> Double {
        let time = factor.fraction
        return switch self {
        case .linear: time
        case .easeIn: time * time
        case .easeOut: time * (2 - time)
        case .easeInOut: time * time * (3 - 2 * time)
        }
    }
}
