/// What of Google congestion control is a matter of configuration; the defaults are libwebrtc's for a camera, unless
/// said otherwise.
public struct GoogleParameters: Hashable, Sendable {
    /// The rule for too much in flight.
    public enum Pushback: String, Hashable, Sendable {
        case none
        /// Frames are left out, half of them at most, and the target falls by the same part (`DropFrame`).
        case dropsFrames
        /// The target for the encoder falls as far as the window asks for.
        case lowersTarget
    }

    /// Whether probes go out each five seconds while the application sends clearly less than it may. libwebrtc asks for
    /// them where the content is a screen; here they are on, since a picture of many tiles is as uneven.
    public var probesInLimitedRegion: Bool
    /// Whether the rate of before a large drop is probed wherever delay is normal again, not only near the
    /// application-limited region (`WebRTC-BweRapidRecoveryExperiment`).
    public var isRapidRecoveryEnabled: Bool
    public var pushback: Pushback

    public init(
        probesInLimitedRegion: Bool = true, isRapidRecoveryEnabled: Bool = false, pushback: Pushback = .dropsFrames
    ) {
        self.probesInLimitedRegion = probesInLimitedRegion
        self.isRapidRecoveryEnabled = isRapidRecoveryEnabled
        self.pushback = pushback
    }
}
