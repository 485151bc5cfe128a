/// The progress of a change over its time.
public enum Easing: String, Codable, Hashable, Sendable, CaseIterable {
    /// Constant speed.
    case linear
    /// Slow at the beginning (t²).
    case easeIn = "ease-in"
    /// Slow at the end (1 - (1 - t)²).
    case easeOut = "ease-out"
    /// Slow at the beginning and at the end (smoothstep, 3t² - 2t³).
    case easeInOut = "ease-in-out"

    /// The finished part of the change, from 0 to 1, after `factor` of the time.
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
