import CongestionControl
import EncoderSharing
import LoadControl
import MediaCore
import PeerConnection
import VideoCoding

/// One encoder and its work: the pictures of several receivers with the same view, at a rate that suits them all.
///
/// Each receiver keeps its numbering, keys, pacer and controller: a frame is encoded and packetized once, and numbered
/// for each. There is one encode job at a time. If the encoder is busy at a tick, the tick's picture waits until the
/// next tick: an encoder that takes slightly longer than a tick then loses a few frames, not half of them. A tick at
/// which no receiver has room for a frame is skipped: no bits are spent on late frames.
final class EncodeGroup {
    /// A receiver that cannot ask for keyframes gets one this often: it may come late, or lose packets.
    private static let unaskedKeyframeInterval = Duration.seconds(2)

    let id: EncodeGroupID
    let queue: JobQueueID
    let format: EncodeFormat
    private let encoder: QueueConfined<LazyEncoder>
    private let sharedPolicy: KeyframeSchedule.Policy

    private var keyframes = KeyframeSchedule()
    private var recovery = ReferenceRecovery()
    /// True if the picture being encoded should be a refresh.
    private var isRefreshing = false
    private var selector: RungSelector
    /// The size of the last picture for the encoder.
    private var encodedDimensions: VideoDimensions?
    /// The queue of a link that carries just the encoder's rate. A shared encoder waits until it is short, as an
    /// encoder with a single receiver waits for that receiver's link. So an expensive picture costs all receivers the
    /// same frames, and members whose links carry the group's rate never wait for a keyframe because of it. Receivers
    /// that cannot request keyframes do not report their links either: for them nothing waits.
    private var link = LinkQueue()
    private var coarsest = CoarsestFrame()
    /// The sizes of keyframes, as the frames of all the encoder's sessions tell. Without it each new session would
    /// begin with keyframes far above their limit, and encode the picture several times.
    private(set) var keyframeSizes: KeyframeSizeModel
    /// The size limit of the picture being encoded.
    private var bound = DataSize.zero
    private var shownFrames = ShownFrameFilter()
    private var isEncoding = false
    /// The picture of the job that waits or runs.
    private var jobPicture: JobPicture?
    /// The newest picture that came while the encoder was busy.
    private var postponed: Request?
    private var unchanged: UnchangedPicture
    private var tickCount: UInt64 = 0

    /// The receivers of the frames, and receivers that wait for a keyframe.
    var subscribers = GroupSubscribers()
    /// The planner's rate for several receivers, and whether it stays until the next review.
    var planned: (rate: BitRate, isKept: Bool)
    var bitRate: VideoBitRate
    /// The rate of the slowest member.
    private(set) var slowestRate: BitRate
    /// True if more than one receiver gets the frames.
    private(set) var isShared = false
    /// True if the single receiver needs no keyframe after a loss.
    private(set) var recovers = false
    /// True if temporal layers are to be made from the next keyframe on, and true if they are made since the last one.
    private var wantsLayers = false
    private var hasLayers = false
    /// True if the encoder has been given a picture: from then on it takes memory and time.
    private(set) var hasStarted = false

    private(set) var framesEncoded: UInt64 = 0
    /// Ticks left out because the encoder was busy or nobody had room.
    private(set) var framesLeftOut: UInt64 = 0
    private(set) var keyframesEncoded: UInt64 = 0
    private var backoff = EncoderBackoff()
    /// The failure of the job that was done last; nil if it did not fail.
    private(set) var failure: EncoderFailure?
    /// The number of changes of the size or the frame rate.
    private(set) var rungChanges: UInt64 = 0

    /// - Parameters:
    ///   - rung: The first rung, and the known complexity of the content.
    ///   - keyframeSizes: The sizes of keyframes of the same content, if they are known from another group.
    ///   - keyframeShare: The largest part of the rate for keyframes while the group is shared.
    init(
        id: EncodeGroupID, queue: JobQueueID, format: EncodeFormat, encoder: LazyEncoder, bitRate: VideoBitRate,
        rung selector: RungSelector, keyframeSizes: KeyframeSizeModel = KeyframeSizeModel(), keyframeShare: Double
    ) {
        self.id = id
        self.queue = queue
        self.format = format
        self.bitRate = bitRate
        slowestRate = bitRate.sustained
        planned = (bitRate.sustained, false)
        self.selector = selector
        self.keyframeSizes = keyframeSizes
        unchanged = UnchangedPicture(isLossReported: !format.repeatsKeyframes)
        sharedPolicy = .shared(share: keyframeShare)
        self.encoder = QueueConfined(encoder)
    }

    /// The group, as the planner knows it.
    var known: GroupPlanning.Known {
        GroupPlanning.Known(
            id: id, format: format, members: subscribers.members, rate: planned.rate, isRateKept: planned.isKept,
            expectsKeyframe: expectsKeyframe)
    }

    /// Takes the group's rate and the needs of its receivers.
    ///
    /// - Parameter needsLayers: True if a receiver did not get every frame in time lately. Layers let single receivers
    ///   get fewer frames, and cost all of them quality.
    func update(bitRate: VideoBitRate, isShared: Bool, recovers: Bool, needsLayers: Bool) {
        self.isShared = isShared
        self.recovers = recovers && !isShared
        self.bitRate = bitRate
        wantsLayers = needsLayers && isShared && !format.repeatsKeyframes
    }

    // MARK: Rungs

    /// The size and frame rate in which the group's pictures are composed and encoded.
    var rung: EncodeRung { selector.rung }
    var complexity: ContentComplexity? { selector.cost }
    /// The quantisation parameter over time.
    var qp: Double? { selector.qp }
    /// True if the rung is below what the receivers could get.
    var isRungReduced: Bool {
        rung.dimensions.area < format.dimensions.area || Double(rung.frameRate) < format.properties.expectedFrameRate
    }

    /// Changes to the rung that the quality demands, if a keyframe is due for it. From the next tick on pictures of
    /// that size are composed, and the first of them is encoded as a keyframe.
    ///
    /// - Parameter tickRate: Ticks a second.
    func chooseRung(in ladder: Ladder, slowest: BitRate, tickRate: Int, now: MonotonicInstant) {
        slowestRate = slowest
        let rates = RungSelector.Rates(encoder: bitRate.sustained, slowest: slowest, tickRate: tickRate)
        let wanted = selector.wanted(in: ladder, rates: rates, now: now)
        // Another frame rate alone needs no keyframe.
        guard let wanted, wanted.dimensions == rung.dimensions || now >= nextKeyframe else { return }
        selector.step(to: wanted, now: now)
        rungChanges &+= 1
    }

    /// A rung's first picture was composed for it.
    private func isNewSize(_ picture: PixelBuffer) -> Bool {
        encodedDimensions.map { $0 != picture.dimensions } ?? false
    }

    private var policy: KeyframeSchedule.Policy {
        format.repeatsKeyframes ? .unasked : isShared ? sharedPolicy : .dedicated
    }

    /// The earliest time of the next keyframe.
    var nextKeyframe: MonotonicInstant { keyframes.earliest(policy) }

    /// True if a keyframe is wanted and may come soon.
    var expectsKeyframe: Bool { keyframes.isWanted }

    /// The limit of a keyframe for one receiver; nil if the receiver is too slow to count.
    func keyframeBound(rate: BitRate, backlog: LinkBacklog) -> DataSize? {
        if format.repeatsKeyframes { return FrameBound.repeatedKeyframe(rate: rate, isStored: format.isStored) }
        guard isShared else {
            return FrameBound.keyframe(rate: rate, backlog: backlog, frameRate: rung.frameRate)
        }
        guard rate >= bitRate.sustained * DownlinkPipeline.leastShare else { return nil }
        return FrameBound.sharedKeyframe(slowest: rate, frameRate: rung.frameRate)
    }

    /// Requests a keyframe, which answers all requests until it comes.
    func requestKeyframe() { keyframes.request() }

    /// The one receiver lost a picture.
    func pictureLost(roundTripTime: Duration, now: MonotonicInstant) -> ReferenceRecovery.Answer {
        let answer = recovers ? recovery.lost(roundTripTime: roundTripTime, now: now) : .keyframe
        if answer == .keyframe { keyframes.request() }
        return answer
    }

    /// The method that repairs losses of the single receiver.
    var recoveryMethod: LossRecovery { recovers ? recovery.method : .keyframes }

    /// Notes that the single receiver has the complete picture that was taken at `time`. Returns true if it continued
    /// with a refresh.
    func pictureAcknowledged(at time: MonotonicInstant) -> Bool { recovers && recovery.acknowledged(time) }

    /// Gives up the picture that waits for the encoder, for another is here. Returns its tick if there was one.
    func dropPostponed() -> MonotonicInstant? {
        guard let dropped = postponed else { return nil }
        postponed = nil
        framesLeftOut &+= 1
        return dropped.tick.captureTime
    }

    /// The index of the picture that the receivers see at a tick.
    func index(in tick: ComposedTick) -> Int? {
        let members = subscribers.ids.filter { tick.pictureIndex[$0] != nil }
        guard let viewer = members.first(where: subscribers.contains) ?? members.first else { return nil }
        // A receiver that waits for another size's keyframe has two pictures.
        return [tick.pictureIndex[viewer], tick.followedPictureIndex[viewer]].lazy.compactMap(\.self).first {
            tick.pictures.indices.contains($0) && tick.pictures[$0].dimensions == rung.dimensions
        }
    }

    /// Takes a tick's picture.
    func tick(_ request: Request, demand: Demand, now: MonotonicInstant) -> Tick {
        guard let picture = request.picture else { return .idle }
        tickCount &+= 1
        if format.repeatsKeyframes, let last = keyframes.last, now - last >= Self.unaskedKeyframeInterval {
            keyframes.request()
        }
        // Layers cost a sharp picture that stays the same nothing, and a keyframe would make it coarse.
        if isShared, hasStarted, wantsLayers != hasLayers, wantsLayers || !unchanged.isSharp { keyframes.request() }
        // The frame in the encoder may be the keyframe that they wait for.
        if demand.pendingHasRoom, !isEncoding { keyframes.request() }
        let divisor = rung.divisor(ofTicks: request.tickRate)
        let isDue =
            isPictureDue(picture, of: request.tick, divisor: divisor) || isNewSize(picture)
            || keyframes.isDue(policy, now: now) || (recovers && recovery.isWanted)
        guard isDue else { return .idle }
        guard backoff.allowsTry(now: now) else {
            framesLeftOut &+= 1
            return .leftOut
        }
        guard !isEncoding else {
            // The job's bounds and its promise of a keyframe are for pictures of its size.
            if picture.dimensions == encodedDimensions, let overtaken = jobPicture?.replace(by: request) {
                took(picture, of: request)
                framesLeftOut &+= 1
                return .replaced(overtaken)
            }
            postponed = request
            return .postponed
        }
        return encode(request, picture, demand: demand, now: now)
    }

    /// True if a picture waits for the encoder.
    var hasPostponed: Bool { postponed != nil }

    /// Takes the picture that has waited for the encoder.
    func resume(demand: Demand, now: MonotonicInstant) -> Tick {
        guard !isEncoding, let request = postponed, let picture = request.picture else { return .idle }
        postponed = nil
        if demand.pendingHasRoom { keyframes.request() }
        // For another size that is wanted by now, the next tick has a picture.
        guard picture.dimensions == rung.dimensions, backoff.allowsTry(now: now) else {
            framesLeftOut &+= 1
            return .leftOut
        }
        return encode(request, picture, demand: demand, now: now)
    }

    private func encode(_ request: Request, _ picture: PixelBuffer, demand: Demand, now: MonotonicInstant) -> Tick {
        let isNewSize = isNewSize(picture)
        // A picture of another size is a keyframe in any case; it was due when the size was chosen.
        let isKeyframe = isNewSize || keyframes.isDue(policy, now: now)
        guard !isShared || format.repeatsKeyframes || link.backlog(now: now).sent <= LatencyBudget.beforeFrame,
            demand.activeHasRoom || (isKeyframe && demand.pendingHasRoom)
        else {
            framesLeftOut &+= 1
            return .leftOut
        }
        isEncoding = true
        hasStarted = true
        if isNewSize { coarsest = CoarsestFrame() }
        took(picture, of: request)
        if isKeyframe {
            keyframes.begin(policy, now: now)
            hasLayers = wantsLayers
            if !format.repeatsKeyframes { unchanged.begin(at: request.tick.captureTime) }
        }
        let frameRate = rung.encoded(ofTicks: request.tickRate).frameRate
        let wanted =
            isKeyframe
            ? demand.keyframeBound ?? .zero
            : FrameBound.frame(rate: bitRate.sustained, frameRate: frameRate, isShared: isShared)
        bound = max(FrameBound.least(picture.dimensions), coarsest.size, wanted)
        let settings = LazyEncoder.Settings(
            bitRate: bitRate, frameRate: frameRate, hasLayers: hasLayers, recovers: recovers,
            preset: request.limits.preset ?? format.properties.preset, maximumSize: bound)
        keyframeSizes.scale(to: picture.dimensions)
        let (encoder, packetizer, keyframeSizes) = (encoder, format.packetizer, keyframeSizes)
        let options = options(isKeyframe: isKeyframe)
        let newest = JobPicture(picture, of: request)
        jobPicture = newest
        let room = request.room
        return .encoded(
            Job(kind: .encode, queue: queue, deadline: request.deadline, yields: true, handedOut: now) {
                let (picture, request) = newest.take()
                var result = encoder.value.encode(
                    picture, captureTime: request.tick.captureTime, settings: settings, options: options,
                    keyframeSizes: keyframeSizes)
                result.payloads = result.frame.flatMap { FramePayloads(of: $0, by: packetizer) }
                return .encoded(room: room, result)
            })
    }

    private func took(_ picture: PixelBuffer, of request: Request) {
        unchanged.encoded(picture, at: request.tick.captureTime)
        encodedDimensions = picture.dimensions
    }

    private func options(isKeyframe: Bool) -> EncodeOptions {
        var options = EncodeOptions(forceKeyframe: isKeyframe)
        guard recovers, !isKeyframe else { return options }
        let request = recovery.takeRequest()
        isRefreshing = request.lostFrom != nil
        options.invalidateReferencesBackTo = request.lostFrom.map { MediaTime($0) }
        if let reference = request.acknowledged { options.acknowledgedReferences = [reference] }
        return options
    }

    /// True if the last picture is sharp and no receiver waits for another, so that frames only keep the stream alive.
    var isStill: Bool {
        unchanged.isSharp && postponed == nil && !keyframes.isWanted
            && !(recovers && recovery.isWanted) && subscribers.areSettled
    }

    /// The time from one frame to the next while the picture does not change.
    var unchangedInterval: Duration { unchanged.interval }

    private func isPictureDue(_ picture: PixelBuffer, of tick: ComposedTick, divisor: Int) -> Bool {
        switch unchanged.need(of: picture, at: tick.captureTime) {
        case .usual: tickCount.isMultiple(of: UInt64(divisor))
        case .keepAlive: true
        case .none: false
        }
    }

    /// Takes a job's result. Returns the frames of sources that it is the first to show.
    @discardableResult
    func complete(_ result: EncodedPicture, of completion: JobCompletion) -> ShownFrames? {
        let shown = jobPicture?.take().request
        jobPicture = nil
        update(by: result, of: completion, tickRate: shown?.tickRate)
        return shown.map { shownFrames.take($0.tick, picture: $0.index) }
    }

    private func update(by result: EncodedPicture, of completion: JobCompletion, tickRate: Int?) {
        isEncoding = false
        failure = result.error.map { error in
            let delay = backoff.failed(now: completion.finished)
            return EncoderFailure(reason: "\(error)", failures: backoff.failures, retryAfter: delay)
        }
        failure = failure ?? result.deviceFault
        if let frame = result.frame {
            framesEncoded &+= 1
            backoff.succeeded(now: completion.finished)
            link.setRate(bitRate.sustained, now: completion.finished)
            link.spend(frame.size, now: completion.finished)
            keyframeSizes.add(frame.statistics)
            unchanged.cameOut(frame.statistics)
            if !unchanged.isBeingRefined {
                selector.observe(frame.statistics, tickRate: tickRate, now: completion.finished)
            }
            if frame.isKeyframe {
                keyframesEncoded &+= 1
                coarsest.keyframeEncoded()
                keyframes.end(size: frame.size, rate: bitRate.sustained, now: completion.finished)
            }
        } else if failure == nil {
            framesLeftOut &+= 1
            coarsest.leftOut(bound: bound, dimensions: encodedDimensions ?? rung.dimensions)
        }
        if result.error != nil { keyframes.request() }
        defer { isRefreshing = false }
        guard let frame = result.frame else {
            // The frame was asked for, and the next attempt at it must not wait until an unchanged picture is due.
            unchanged.leftOut()
            return
        }
        // A refresh that did not come is not requested again.
        if isRefreshing, !result.isRefresh, !frame.isKeyframe {
            recovery.refreshFailed()
            keyframes.request()
        }
        recovery.encoded(
            type: frame.isKeyframe ? .idr : frame.statistics.type, reference: frame.longTermReference,
            at: result.captureTime, method: result.recovery, isRefresh: result.isRefresh)
    }
}
