import MediaCore

/// Decides from picture, format and network whether a receiver may get a source's own packets.
///
/// The network changes from moment to moment, so that beginning needs more than continuing. After an end because of the
/// network, the next attempt waits, longer each time.
struct ForwardingPolicy {
    /// The state of a source.
    struct Source {
        var isOn = true
        var canRequestKeyframes = true
        var isPresent = true
        var profileLevel: H264ProfileLevelID
        /// The coded size.
        var dimensions: VideoDimensions
        /// False if receivers may show another shape than that of the coded size; not all do.
        var hasSquareSamples = true
        var rotation = VideoRotation.none
        var packetizationMode: Int
        var largestPayload = 0
        /// The rate of the last second.
        var rate: BitRate
        /// The highest of the last seconds.
        var peakRate: BitRate
    }

    /// The state of a receiver.
    struct Receiver {
        var acceptance: ForwardingAcceptance
        var canvas: VideoDimensions
        /// The rate of video that its network carries.
        var carries: BitRate
        /// The maximum rate of the receiver: a path that carries it may carry more.
        var ceiling: BitRate
        /// The backlog of the receiver's link.
        var backlog: Duration
        var asksTooOften = false
    }

    /// Head-room that the network must have over the source's highest recent rate before forwarding begins.
    private static let headroom = 1.2
    /// The share of the ceiling that counts as the ceiling.
    private static let nearCeiling = 0.9
    /// The part of the source's rate below which forwarding ends.
    private static let least = 0.95
    /// The backlog at which forwarding ends. A keyframe alone is large.
    static let longestBacklog = Duration.milliseconds(150)
    private static let longestBacklogAfterKeyframe = (limit: Duration.milliseconds(300), time: Duration.seconds(1))
    /// The time for which all conditions must hold before forwarding begins.
    private static let settling = Duration.seconds(2)
    private static let firstHoldOff = Duration.seconds(3)
    private static let longestHoldOff = Duration.seconds(60)
    /// The time after which a use counts as successful.
    private static let success = Duration.seconds(60)
    /// The largest payload: with all headers it goes through every path of IPv6, which carries 1232 bytes of UDP.
    static let maximumPayload = 1182

    /// The time since which there is no obstacle.
    private var clearSince: MonotonicInstant?
    private var nextHoldOff = Self.firstHoldOff
    private var heldOffUntil = MonotonicInstant.zero
    private var began: MonotonicInstant?
    private var lastKeyframe: MonotonicInstant?

    /// Returns the reason for which the receiver cannot get the source's packets now; nil if it can.
    func obstacle(source: Source?, receiver: Receiver, now: MonotonicInstant) -> ForwardingObstacle? {
        guard let source else { return .noPicture }
        guard source.isOn else { return .cameraOff }
        guard source.isPresent else { return .noPicture }
        guard source.canRequestKeyframes, receiver.acceptance.asksForKeyframes else { return .keyframes }
        guard source.rotation == .none || receiver.acceptance.tellsRotation else { return .rotation }
        guard source.hasSquareSamples, Self.fills(source.rotation.upright(source.dimensions), receiver.canvas) else {
            return .shape
        }
        if let obstacle = receiver.acceptance.obstacle(
            profileLevel: source.profileLevel, packetizationMode: source.packetizationMode)
        {
            return obstacle
        }
        guard source.largestPayload <= Self.maximumPayload else { return .packetSize }
        guard !receiver.asksTooOften else { return .manyRequests }
        return isCarried(source, by: receiver, now: now) ? nil : .network
    }

    private func isCarried(_ source: Source, by receiver: Receiver, now: MonotonicInstant) -> Bool {
        if began != nil {
            let isAfterKeyframe = lastKeyframe.map { now - $0 < Self.longestBacklogAfterKeyframe.time } ?? false
            let longest = isAfterKeyframe ? Self.longestBacklogAfterKeyframe.limit : Self.longestBacklog
            return receiver.carries >= source.rate * Self.least && receiver.backlog <= longest
        }
        guard now >= heldOffUntil, receiver.backlog <= Self.longestBacklog else { return false }
        if receiver.carries >= source.peakRate * Self.headroom { return true }
        return receiver.carries >= receiver.ceiling * Self.nearCeiling && receiver.carries >= source.peakRate
    }

    /// Returns true if a picture of this size has the canvas's shape.
    static func fills(_ size: VideoDimensions, _ canvas: VideoDimensions) -> Bool {
        let (wide, high) = (Double(size.width * canvas.height), Double(size.height * canvas.width))
        return wide > 0 && abs(wide - high) <= VideoDimensions.invisibleDeviation * max(wide, high)
    }

    // MARK: What has become of it

    /// Records whether forwarding is possible. Returns true if it has been possible for long enough to begin.
    mutating func record(isClear: Bool, now: MonotonicInstant) -> Bool {
        guard isClear else {
            clearSince = nil
            return false
        }
        let since = clearSince ?? now
        clearSince = since
        return now - since >= Self.settling
    }

    /// The source's packets are sent from now on, beginning with a keyframe.
    mutating func begin(now: MonotonicInstant) {
        began = now
        lastKeyframe = now
    }

    /// A keyframe of the source was sent.
    mutating func keyframePassed(now: MonotonicInstant) { lastKeyframe = now }

    mutating func end(because obstacle: ForwardingObstacle, now: MonotonicInstant) {
        if let began, now - began > Self.success { nextHoldOff = Self.firstHoldOff }
        interrupt()
        if obstacle == .network { holdOff(now: now) }
    }

    /// Records that nothing is sent to the receiver. The path may have changed when sending begins again.
    mutating func interrupt() {
        began = nil
        clearSince = nil
    }

    /// Blocks further attempts for a while.
    mutating func holdOff(now: MonotonicInstant) {
        heldOffUntil = now + nextHoldOff
        nextHoldOff = min(nextHoldOff * 2, Self.longestHoldOff)
        clearSince = nil
    }
}
