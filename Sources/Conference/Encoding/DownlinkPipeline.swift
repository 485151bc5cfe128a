import MediaCore
import VideoCoding

/// A receiver's video on its way out: which encoder's frames are sent, and which of them are left out for this receiver
/// alone.
///
/// A receiver is assigned to a group, and follows its frames from a keyframe on. Until that comes it goes on with those
/// that it followed before. Frames that its own link has no room for are left out: of the upper temporal layer at any
/// time, which no other frame refers to and whose absence the numbering does not show (H.264 7.4.3, `frame_num`); where
/// that is not enough, all until the next keyframe.
struct DownlinkPipeline {
    let format: EncodeFormat
    /// The group that the receiver belongs to; nil before the first picture.
    private(set) var group: EncodeGroupID?
    /// The group whose frames are sent; nil while a keyframe is waited for without a picture.
    private(set) var source: EncodeGroupID?
    private var lastSource: EncodeGroupID?
    /// What the receiver's own network carries.
    var bitRate: VideoBitRate
    var keyFrameAllowance = KeyFrameAllowance()
    /// When a frame was last left out for this receiver alone.
    private(set) var lastThinned: MonotonicInstant?
    /// Since when a keyframe of the receiver's group is waited for.
    private(set) var waitsSince: MonotonicInstant?
    private var lastKeyFrame: MonotonicInstant?
    /// Whether a keyframe is wanted because frames were more than the link could take.
    private var hasStopped = false
    private var lastStop: MonotonicInstant?

    private(set) var framesEncoded: UInt64 = 0
    var framesDropped: UInt64 = 0
    private(set) var framesThinned: UInt64 = 0
    private(set) var keyFrames: UInt64 = 0
    private(set) var groupChanges: UInt64 = 0

    init(format: EncodeFormat, bitRate: BitRate) {
        self.format = format
        self.bitRate = VideoBitRate(target: bitRate, sustained: bitRate)
    }

    var dimensions: VideoDimensions { format.dimensions }

    /// Whether the receiver waits for a keyframe of its group, seeing another's pictures or none.
    var awaitsKeyFrame: Bool { source != group }

    /// Moves the receiver to a group, which it follows from its next keyframe on.
    mutating func assign(to group: EncodeGroupID, now: MonotonicInstant) {
        guard group != self.group else { return }
        self.group = group
        waitsSince = waitsSince ?? now
    }

    /// What is to be reckoned with for this receiver in a shared group: less than what its network carries, for a while
    /// after that was not enough for the lower layer.
    func dependableRate(now: MonotonicInstant) -> BitRate {
        let isCautious = lastStop.map { now - $0 < Self.caution.time } ?? false
        return isCautious ? bitRate.sustained * Self.caution.share : bitRate.sustained
    }

    private static let caution = (share: 0.75, time: Duration.seconds(20))

    /// Whether a keyframe may be asked of the group on behalf of this receiver, which waits for one. Who joins a group may
    /// ask as often as it takes; who fell out of one that others share, within its allowance, and not while its link is
    /// too slow for the group in any case.
    mutating func mayAskForSwitch(to group: EncodeGroup, now: MonotonicInstant) -> Bool {
        guard hasStopped, group.isShared else { return true }
        guard bitRate.sustained >= group.bitRate.sustained * Self.leastShare, keyFrameAllowance.take(now: now) else {
            return false
        }
        hasStopped = false
        return true
    }

    /// The group that is followed has ended.
    mutating func sourceEnded() { source = nil }

    // MARK: Frames

    /// The least part of a group's rate with which its lower temporal layer can be followed.
    private static let leastShare = 0.65
    /// No frame of the upper temporal layer is sent where the link then has this much to do…
    private static let upperLayerLimit = Duration.milliseconds(100)
    /// …and no frame at all where it has this much.
    private static let limit = Duration.milliseconds(350)
    /// A keyframe is much at once, and what follows it less: for a while after it, this.
    private static let limitAfterKeyFrame = (limit: Duration.milliseconds(700), time: Duration.seconds(3))

    /// What becomes of a frame of a group.
    enum Verdict {
        case send
        /// It is not of the group that is followed.
        case ignore
        /// It is left out, and those behind it can be decoded all the same.
        case thin
        /// It is left out, and nothing is sent until a keyframe comes.
        case stop
    }

    /// Whether a frame is sent to this receiver.
    ///
    /// - Parameters:
    ///   - isShared: Whether the frame is for others too. One that is for this receiver alone was encoded because there
    ///     was room for it.
    ///   - backlog: How long the link has to do with the frame.
    mutating func take(
        _ frame: EncodedFrame, of group: EncodeGroupID, isShared: Bool, backlog: Duration,
        now: MonotonicInstant
    ) -> Verdict {
        let verdict = judge(frame, of: group, isShared: isShared, backlog: backlog, now: now)
        switch verdict {
        case .send:
            framesEncoded &+= 1
            guard frame.isKeyFrame else { break }
            keyFrames &+= 1
            lastKeyFrame = now
            hasStopped = false
            if let lastSource, lastSource != group { groupChanges &+= 1 }
            (source, lastSource, waitsSince) = (group, group, nil)
        case .thin:
            framesThinned &+= 1
            lastThinned = now
        case .stop:
            framesThinned &+= 1
            lastThinned = now
            source = nil
            waitsSince = now
            hasStopped = true
            lastStop = now
        case .ignore: break
        }
        return verdict
    }

    private func judge(
        _ frame: EncodedFrame, of group: EncodeGroupID, isShared: Bool, backlog: Duration,
        now: MonotonicInstant
    ) -> Verdict {
        let isSwitchPoint = frame.isKeyFrame && group == self.group
        guard group == source || isSwitchPoint else { return .ignore }
        guard isShared else { return .send }
        if frame.isKeyFrame {
            // One who can still see something goes on with that.
            if backlog <= Self.limitAfterKeyFrame.limit { return .send }
            return group == source ? .stop : .ignore
        }
        guard frame.statistics.isReference else { return backlog <= Self.upperLayerLimit ? .send : .thin }
        let isAfterKeyFrame = lastKeyFrame.map { now - $0 < Self.limitAfterKeyFrame.time } ?? false
        return backlog <= (isAfterKeyFrame ? Self.limitAfterKeyFrame.limit : Self.limit) ? .send : .stop
    }
}
