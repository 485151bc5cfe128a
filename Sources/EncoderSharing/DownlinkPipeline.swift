package import CongestionControl
package import MediaCore
package import VideoCoding

/// A receiver's video on its way out: which frames of its group are left out for this receiver alone.
///
/// A receiver belongs to a group (`GroupSubscribers`), and is sent its frames from a keyframe on. Until that comes it
/// is sent those of the group before. Frames that its own link has no room for are left out: of the uppermost temporal
/// layer at any time, which no other frame refers to; then of the middle one, with what refers to them; where that is
/// not enough, all until the next keyframe.
package struct DownlinkPipeline {
    package let format: EncodeFormat
    /// The group whose keyframe was sent last.
    private var lastSource: EncodeGroupID?
    /// The rate that the receiver's own network carries.
    package var bitRate: VideoBitRate
    package var keyframeLimiter = KeyframeLimiter()
    package var recovery = RecoveryCounters()
    /// When a frame of the uppermost and of the middle temporal layer was last left out for this receiver alone.
    private var lastLayerDrop: (upper: MonotonicInstant?, middle: MonotonicInstant?)
    /// The layer of a frame that was left out and that those of the layers above it refer to, until the next of the
    /// same layer or a lower one.
    private var missingLayer: Int?
    /// Since when a keyframe of the receiver's group is waited for.
    private var waitsSince: MonotonicInstant?
    /// When the last keyframe was sent, and how long the link had to do with it.
    private var lastKeyframe: (time: MonotonicInstant, backlog: Duration)?
    /// The size and frame rate of what was sent last.
    package private(set) var rung: EncodeRung?
    /// Whether a keyframe is wanted because frames were more than the link could take.
    private var hasStopped = false
    private var lastStop: MonotonicInstant?

    package private(set) var framesEncoded: UInt64 = 0
    package private(set) var framesDropped: UInt64 = 0
    package private(set) var framesLayerDropped: UInt64 = 0
    package private(set) var keyframes: UInt64 = 0
    package private(set) var groupChanges: UInt64 = 0

    package init(format: EncodeFormat, bitRate: BitRate) {
        self.format = format
        self.bitRate = VideoBitRate(target: bitRate, sustained: bitRate)
    }

    package var dimensions: VideoDimensions { format.dimensions }

    /// The receiver was moved to another group, whose keyframe it waits for.
    package mutating func moved(now: MonotonicInstant) { waitsSince = waitsSince ?? now }

    /// The receiver needs no encoder any more: it is sent a source's own packets.
    package mutating func leftGroups() { (waitsSince, hasStopped) = (nil, false) }

    /// A tick was not encoded.
    package mutating func frameLeftOut() { framesDropped &+= 1 }

    /// The rate to plan with for this receiver in a shared group: less than its network carries, for a while
    /// after that was not enough for the lower layer.
    package func dependableRate(now: MonotonicInstant) -> BitRate {
        let isCautious = lastStop.map { now - $0 < Self.caution.time } ?? false
        return isCautious ? bitRate.sustained * Self.caution.share : bitRate.sustained
    }

    private static let caution = (share: 0.85, time: Duration.seconds(3))

    /// Whether a keyframe may be asked of the group on behalf of this receiver, which waits for one: not of one who
    /// fell out of a group that others share while its link is too slow for it in any case.
    ///
    /// - Parameter rate: What the group makes where it is shared; nil where it is the receiver's own.
    package mutating func mayAskForSwitch(toSharedAt rate: BitRate?, now: MonotonicInstant) -> Bool {
        guard hasStopped, let rate else { return true }
        guard bitRate.sustained >= rate * Self.leastShare else { return false }
        hasStopped = false
        return true
    }

    /// Frames left out longer ago than this say nothing of the present.
    private static let lately = Duration.seconds(2)

    /// How many of the three temporal layers are left out for this receiver alone.
    package func layersDropped(now: MonotonicInstant) -> Int {
        func isLately(_ time: MonotonicInstant?) -> Bool { time.map { now - $0 < Self.lately } ?? false }
        if isLately(lastStop) { return 3 }
        return isLately(lastLayerDrop.middle) ? 2 : isLately(lastLayerDrop.upper) ? 1 : 0
    }

    // MARK: Frames

    /// How many temporal layers an encoder makes that several share.
    package static let temporalLayers = 3
    /// The least part of a group's rate with which its lowest temporal layer can be followed.
    package static let leastShare = 0.42
    /// A keyframe is as small as can be: a link that has no more to do than this is sent it in any case.
    private static let idle = Duration.milliseconds(50)
    /// Frames that follow a keyframe within this time are not left out because of that keyframe.
    private static let afterKeyframe = (time: Duration.seconds(2), margin: Duration.milliseconds(60))
    /// For how long it is waited at most for a link to have room for a keyframe: what fills it may be others'.
    private static let longestWait = Duration.seconds(1)

    /// Whether the link has room for the keyframe that is waited for.
    package func hasRoomForKeyframe(backlog: LinkBacklog, now: MonotonicInstant) -> Bool {
        backlog.longest <= LatencyBudget.beforeFrame || waitsSince.map { now - $0 > Self.longestWait } ?? true
    }

    /// Whether a group's frame is sent.
    package enum Verdict {
        case send
        /// It is not for this receiver, or the receiver goes on with another group's for now.
        case ignore
        /// It is left out, and those behind it can be decoded all the same.
        case dropLayer
        /// It is left out, and nothing is sent until a keyframe comes.
        case stop
    }

    /// A frame, and what is known of the group that made it.
    package struct GroupFrame {
        package var frame: EncodeStatistics
        package var group: EncodeGroupID
        /// The group's rate.
        package var rate: BitRate
        package var rung: EncodeRung
        /// Whether the frame is for others too. One that is for this receiver alone was encoded because there was room
        /// for it.
        package var isShared: Bool

        package init(frame: EncodeStatistics, group: EncodeGroupID, rate: BitRate, rung: EncodeRung, isShared: Bool) {
            self.frame = frame
            self.group = group
            self.rate = rate
            self.rung = rung
            self.isShared = isShared
        }
    }

    /// Whether a frame is sent to this receiver.
    ///
    /// - Parameters:
    ///   - subscription: How the receiver stands to the group that made it.
    ///   - before: How long its link has to do without the frame.
    ///   - after: How long with it.
    package mutating func take(
        _ made: GroupFrame, as subscription: GroupSubscribers.Subscription, before: LinkBacklog,
        with after: LinkBacklog, now: MonotonicInstant
    ) -> Verdict {
        let verdict = judge(made, as: subscription, before: before, with: after, now: now)
        switch verdict {
        case .send:
            framesEncoded &+= 1
            rung = made.rung
            if let missingLayer, made.frame.temporalLayer <= missingLayer { self.missingLayer = nil }
            guard made.frame.type == .idr else { break }
            keyframes &+= 1
            lastKeyframe = (now, after.sent)
            hasStopped = false
            if let lastSource, lastSource != made.group { groupChanges &+= 1 }
            (lastSource, waitsSince) = (made.group, nil)
        case .dropLayer:
            framesLayerDropped &+= 1
            if made.frame.isReference {
                lastLayerDrop.middle = now
                missingLayer = made.frame.temporalLayer
            } else {
                lastLayerDrop.upper = now
            }
        case .stop:
            framesLayerDropped &+= 1
            waitsSince = waitsSince ?? now
            hasStopped = true
            lastStop = now
        case .ignore: break
        }
        return verdict
    }

    private func judge(
        _ made: GroupFrame, as subscription: GroupSubscribers.Subscription, before: LinkBacklog,
        with after: LinkBacklog, now: MonotonicInstant
    ) -> Verdict {
        let frame = made.frame
        guard subscription != .pending || frame.type == .idr else { return .ignore }
        guard made.isShared else { return .send }
        let frameRate = made.rung.frameRate
        // One that cannot follow the group has nothing of a queue that it fills.
        let hasFallen = bitRate.sustained < made.rate * Self.leastShare
        let queue = hasFallen ? after.longest : after.sent
        var limit = hasFallen ? FrameBound.queueOfFallen : FrameBound.queue.duration(at: frameRate)
        if frame.type == .idr {
            // A receiver that still sees something goes on with that.
            if queue <= limit || before.sent <= Self.idle { return .send }
            return subscription == .pending ? .ignore : .stop
        }
        if let missingLayer, frame.temporalLayer > missingLayer { return .dropLayer }
        guard frame.temporalLayer == 0 else {
            let bound = frame.isReference ? FrameBound.middleLayerQueue : FrameBound.upperLayerQueue
            return after.longest <= bound.duration(at: frameRate) ? .send : .dropLayer
        }
        if !hasFallen, let lastKeyframe, now - lastKeyframe.time < Self.afterKeyframe.time {
            limit = max(limit, lastKeyframe.backlog + Self.afterKeyframe.margin)
        }
        return queue <= limit ? .send : .stop
    }
}
