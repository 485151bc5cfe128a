/// The configuration of Google congestion control. The defaults are libwebrtc's for a camera, unless said otherwise.
public struct GoogleParameters: Hashable, Sendable {
    /// The rule for too much in flight.
    public enum Pushback: String, Hashable, Sendable {
        case none
        /// Frames are left out, half of them at most, and the target falls by the same part (`DropFrame`).
        case dropsFrames
        /// The target for the encoder falls as far as the window asks for.
        case lowersTarget
    }

    /// True if probes are sent every five seconds in the application-limited region. libwebrtc does so for screen
    /// shares; here it is the default, because a picture of many tiles varies as much.
    public var probesInLimitedRegion: Bool
    /// True if the rate before a large drop is probed whenever delay is normal again, not only near the
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
