package import CongestionControl
package import MediaCore
package import VideoCoding

/// A receiver's outgoing video: it decides which frames of its group are dropped for this receiver alone.
///
/// A receiver belongs to a group (`GroupSubscribers`), and gets its frames from a keyframe on. Until then it gets those
/// of the group before. Frames for which its own link has no room are dropped: of the uppermost temporal layer at any
/// time, because no other frame refers to it; then of the middle one, with the frames that refer to them; if that is
/// not enough, all until the next keyframe.
package struct DownlinkPipeline {
    package let format: EncodeFormat
    /// The group whose keyframe was sent last.
    private var lastSource: EncodeGroupID?
    /// The rate that the receiver's own network carries.
    package var bitRate: VideoBitRate
    package var keyframeLimiter = KeyframeLimiter()
    package var recovery = RecoveryCounters()
    /// The time of the last frame of the uppermost and of the middle temporal layer that was dropped for this receiver
    /// alone.
    private var lastLayerDrop: (upper: MonotonicInstant?, middle: MonotonicInstant?)
    /// The layer of a dropped frame to which frames of the layers above refer, until the next frame of the same layer
    /// or a lower one.
    private var missingLayer: Int?
    /// The time of the last frame of a shared encoder that the link was too full or too slow for, or of the first
    /// frame, when nothing is known of the link.
    private var lastBehind: MonotonicInstant?
    /// The time since which a keyframe of the receiver's group is awaited.
    private var waitsSince: MonotonicInstant?
    /// The time of the last keyframe, with the link's backlog after it.
    private var lastKeyframe: (time: MonotonicInstant, backlog: Duration)?
    /// The size and frame rate of the last sent frame.
    package private(set) var rung: EncodeRung?
    /// True if a keyframe is wanted because frames exceeded the link.
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

    /// Returns true if the group may be asked for a keyframe on behalf of this receiver, which waits for one. It may
    /// not if the receiver fell out of a shared group that its link is too slow for.
    ///
    /// - Parameter rate: The group's rate if it is shared; nil if the group is the receiver's own.
    package mutating func mayAskForSwitch(toSharedAt rate: BitRate?, now: MonotonicInstant) -> Bool {
        guard hasStopped, let rate else { return true }
        guard bitRate.sustained >= rate * Self.leastShare else { return false }
        hasStopped = false
        return true
    }

    /// The age from which frames that were left out are ignored.
    private static let lately = Duration.seconds(2)

    /// Returns the number of temporal layers, of three, that are dropped for this receiver alone.
    package func layersDropped(now: MonotonicInstant) -> Int {
        func isLately(_ time: MonotonicInstant?) -> Bool { time.map { now - $0 < Self.lately } ?? false }
        if isLately(lastStop) { return 3 }
        return isLately(lastLayerDrop.middle) ? 2 : isLately(lastLayerDrop.upper) ? 1 : 0
    }

    /// The time for which an encoder keeps its layers for a link that was behind, because it may be behind again.
    private static let layerMemory = Duration.seconds(20)
    /// The least part of the group's rate that carries each frame.
    private static let wholeShare = 0.9

    /// True if a shared encoder should make temporal layers for this receiver, to be dropped for it alone.
    package func needsLayers(now: MonotonicInstant) -> Bool {
        lastBehind.map { now - $0 < Self.layerMemory } ?? true
    }

    /// Returns true if a frame of a shared encoder is too much for the link, or nearly.
    private func isBehind(_ made: GroupFrame, with after: LinkBacklog) -> Bool {
        made.isShared && made.frame.type != .idr
            && (after.predicted > FrameBound.upperLayerQueue.duration(at: made.rung.frameRate)
                || after.sent > LatencyBudget.debt || bitRate.sustained < made.rate * Self.wholeShare)
    }

    // MARK: Frames

    /// The number of temporal layers of a shared encoder.
    package static let temporalLayers = 3
    /// The least part of a group's rate with which its lowest temporal layer can be followed.
    package static let leastShare = 0.42
    /// The part of a group's rate below which a receiver that follows it cannot go on. The rate of a link that is
    /// nearly full dips now and then: only its queue shows whether it keeps up. A receiver that is stopped too soon
    /// costs all others a keyframe.
    private static let keptShare = 0.28
    /// A keyframe is as small as can be: a link that has no more to do than this is sent it in any case.
    private static let idle = Duration.milliseconds(50)
    /// Frames that follow a keyframe within this time are not left out because of that keyframe.
    private static let afterKeyframe = (time: Duration.seconds(2), margin: Duration.milliseconds(60))
    /// The longest wait for a link to have room for a keyframe: other traffic may fill it.
    private static let longestWait = Duration.seconds(1)

    /// Returns true if the link has room for the awaited keyframe.
    package func hasRoomForKeyframe(backlog: LinkBacklog, now: MonotonicInstant) -> Bool {
        backlog.longest <= LatencyBudget.beforeFrame || waitsSince.map { now - $0 > Self.longestWait } ?? true
    }

    /// The decision on a group's frame.
    package enum Verdict {
        case send
        /// The frame is not for this receiver, or the receiver still follows another group.
        case ignore
        /// The frame is dropped, and later ones can still be decoded.
        case dropLayer
        /// The frame is dropped, and nothing is sent until a keyframe comes.
        case stop
    }

    /// A frame with the properties of its group.
    package struct GroupFrame {
        package var frame: EncodeStatistics
        package var group: EncodeGroupID
        package var rate: BitRate
        package var rung: EncodeRung
        /// True if the frame is for others too. A frame for this receiver alone was encoded because there was room for
        /// it.
        package var isShared: Bool

        package init(frame: EncodeStatistics, group: EncodeGroupID, rate: BitRate, rung: EncodeRung, isShared: Bool) {
            self.frame = frame
            self.group = group
            self.rate = rate
            self.rung = rung
            self.isShared = isShared
        }
    }

    /// Decides whether a frame is sent to this receiver.
    ///
    /// - Parameters:
    ///   - subscription: The receiver's relation to the group that made the frame.
    ///   - before: The link's backlog without the frame.
    ///   - after: The link's backlog with the frame.
    package mutating func take(
        _ made: GroupFrame, as subscription: GroupSubscribers.Subscription, before: LinkBacklog,
        with after: LinkBacklog, now: MonotonicInstant
    ) -> Verdict {
        if lastBehind == nil || (subscription != .pending && isBehind(made, with: after)) { lastBehind = now }
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
        // The one of several receivers that is left lacks the frame, too.
        if let missingLayer, frame.temporalLayer > missingLayer { return .dropLayer }
        guard made.isShared else { return .send }
        let frameRate = made.rung.frameRate
        // One that cannot follow the group has nothing of a queue that it fills.
        let hasFallen = bitRate.sustained < made.rate * Self.keptShare
        let queue = hasFallen ? after.longest : after.sent
        var limit = hasFallen ? FrameBound.queueOfFallen : FrameBound.queue.duration(at: frameRate)
        if frame.type == .idr {
            // A receiver that still sees frames keeps them.
            if queue <= limit || before.sent <= Self.idle { return .send }
            return subscription == .pending ? .ignore : .stop
        }
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
