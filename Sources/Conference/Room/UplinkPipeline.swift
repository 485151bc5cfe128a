import MediaCore
import PeerConnection
import VideoCoding

/// A source's incoming video: complete frames wait for the decoder, the newest decoded picture waits for the
/// compositor.
///
/// There is one decode job at a time; it takes all waiting frames. If more wait than a decoder can catch up with, the
/// oldest are dropped up to the newest keyframe, or all of them, and a keyframe is requested.
///
/// The decode mode depends on the source's tiles. Frames that are skipped for it are counted separately, because
/// nothing is wrong.
final class UplinkPipeline {
    /// Frames that may wait: half a second at 30 frames a second.
    static let maximumPendingFrames = 15

    let source: SourceID
    let queue: JobQueueID
    private var decoder: QueueConfined<DecodingPipeline>
    private let budget: DecodeBudget
    /// Decodes in place of the processor, until its first fault; nil: none.
    private var device: VAAPIDevice?
    private let surfaceCopies: SurfaceCopyCounter?
    /// The level that was negotiated; nil if none was named.
    var level: H264Level?
    private var pending: [PendingFrame] = []
    private var isDecoding = false
    /// The frames in the decoder belong to a stream that has ended.
    private var isEnding = false
    private var inFlight: [PendingFrame] = []

    /// True if all viewers of the source get its packets: then nobody's picture needs more than its keyframes.
    var isPaused = false {
        didSet { gate.frames = admittedFrames }
    }

    private(set) var newest: PixelBuffer?
    /// The rotation of `newest`.
    private(set) var rotation = VideoRotation.none
    private(set) var newestTime: MonotonicInstant? {
        didSet {
            guard let newestTime, let oldValue else { return }
            intervals = (newestTime - oldValue, intervals.newest)
        }
    }
    /// The times from one picture to the next, of the newest two.
    private var intervals = (newest: Duration.zero, former: Duration.zero)
    private(set) var framesDecoded: UInt64 = 0
    private(set) var framesDropped: UInt64 = 0
    /// Frames left out on purpose.
    private(set) var framesSkipped: UInt64 = 0
    /// Frames that were not decoded because the budget refused them; they count as dropped, too.
    private(set) var framesRefused: UInt64 = 0
    private(set) var skipMode = DecodeSkipMode.full
    private var gate = DecodingGate()
    /// The arrival of the newest frame, decoded or not.
    private var newestArrival: MonotonicInstant?
    /// True if pictures deviate until the next keyframe, because the loop filter was skipped.
    private var hasDrifted = false
    /// The time since which a keyframe is missed; nil if none is, or if frames are skipped on purpose.
    private var awaitsKeyframeSince: MonotonicInstant?
    /// The time from which a keyframe of another format is decoded again; nil if none was refused since the last one.
    private var formatChangeDue: MonotonicInstant?
    /// True if the next frame lacks references because frames were left out here, and no keyframe came in time.
    private var goesOnAsItIs = false
    /// True if the decoder has guessed parts of a picture since the last whole keyframe, and none was requested for it.
    private var isDamaged = false
    private var damageRepairs = TokenBucket(rate: 0.1, capacity: 3)
    /// The wait of the newest picture, stage by stage.
    private(set) var newestTimes: SourceFrameTimes?
    /// The waits of frames, shown or not: the stages `LatencyStage.uplink`.
    private(set) var stages = LatencyHistograms()

    private struct PendingFrame {
        var frame: ReceivedVideoFrame
        var complete: MonotonicInstant
        /// Luma samples that are decoded of it.
        var samples: Double
    }

    /// The most samples of one job, about four pictures of 1920x1080, unless it is of one frame: a worker cannot be
    /// had back from a job.
    private static let samplesOfJob = 8.5e6

    /// - Parameters:
    ///   - budget: The budget that all decoders of the relay share.
    ///   - device: Decodes in place of the processor; nil: none.
    ///   - surfaceCopies: Of pictures that stay on the device; nil: none do.
    init(
        source: SourceID, queue: JobQueueID, budget: DecodeBudget = DecodeBudget(), device: VAAPIDevice? = nil,
        surfaceCopies: SurfaceCopyCounter? = nil
    ) {
        self.source = source
        self.queue = queue
        self.budget = budget
        self.device = device
        self.surfaceCopies = surfaceCopies
        decoder = Self.makeDecoder(device, surfaceCopies)
    }

    private static func makeDecoder(
        _ device: VAAPIDevice?, _ surfaceCopies: SurfaceCopyCounter?
    ) -> QueueConfined<DecodingPipeline> {
        QueueConfined(
            DecodingPipeline(findsGaps: true, device: device, opensAside: true, surfaceCopies: surfaceCopies))
    }

    var queuedFrames: Int { pending.count + inFlight.count }

    /// Takes a complete frame. Returns true if a keyframe is needed because frames had to be dropped.
    func enqueue(_ frame: ReceivedVideoFrame, now: MonotonicInstant) -> Bool {
        newestArrival = now
        guard admits(frame, now: now) else {
            framesSkipped &+= 1
            return takeKeyframeRequest(now: now)
        }
        let request = DecodeBudget.Request(
            source: source, format: frame.sample.format, level: level, content: frame.codedPictures,
            size: DataSize(bytes: frame.sample.data.count))
        if let refusal = budget.admit(request, now: now) {
            framesRefused &+= 1
            framesDropped &+= 1
            gate.leftOut(frame.sample)
            if gate.lacksReferences { awaitsKeyframeSince = now }
            formatChangeDue = refusal == .formatChanges ? budget.nextFormatChange(of: source, now: now) : nil
            // A keyframe would be refused for the same reason, or nobody looks.
            let mayPass = ![.level, .memory, .slices, .formatChanges].contains(refusal)
            return mayPass && admittedFrames != .keyframes && gate.lacksReferences
        }
        formatChangeDue = nil
        stages[.jitterBuffer].observe(now - frame.lastArrival)
        var frame = frame
        frame.followsLoss = frame.followsLoss || goesOnAsItIs
        goesOnAsItIs = false
        pending.append(PendingFrame(frame: frame, complete: now, samples: request.samples))
        guard pending.count > Self.maximumPendingFrames else { return false }
        // A keyframe at the very front leaves nothing to drop before it: then all that waits is too much.
        let keyframe = pending.lastIndex { $0.frame.sample.isSync }.flatMap { $0 > 0 ? $0 : nil }
        if keyframe == nil {
            // Frames that are on their way already refer to these.
            for waiting in pending { gate.leftOut(waiting.frame.sample) }
            awaitsKeyframeSince = now
        }
        let dropped = keyframe ?? pending.count
        framesDropped &+= UInt64(dropped)
        pending.removeFirst(dropped)
        return keyframe == nil
    }

    /// Returns true once when a keyframe is decoded again after one of another format was refused.
    private func takeKeyframeRequest(now: MonotonicInstant) -> Bool {
        guard let due = formatChangeDue, now >= due, admittedFrames != .keyframes else { return false }
        formatChangeDue = nil
        return true
    }

    /// Takes a frame that is not to be seen: those that follow need a keyframe first.
    func withhold(_ frame: ReceivedVideoFrame, now: MonotonicInstant) {
        newestArrival = now
        framesSkipped &+= 1
        gate.leftOut(frame.sample)
    }

    // MARK: Leaving out

    /// Sets the decode mode of the next frames. Returns true if it needs a keyframe, to continue or to be exact.
    func setSkipMode(_ wanted: DecodeSkipMode) -> Bool {
        skipMode = wanted
        gate.frames = admittedFrames
        return wanted != .keyframes && (gate.lacksReferences || (hasDrifted && wanted.loopFilter != .none))
    }

    private var admittedFrames: DecodingEffort.Frames { isPaused ? DecodeSkipMode.keyframes.frames : skipMode.frames }

    /// True if nothing new is shown on purpose: the source was not visible, and the keyframe with which it continues is
    /// not there yet.
    var isPicturePaused: Bool { isPaused || skipMode == .keyframes || gate.lacksReferences }

    private func admits(_ frame: ReceivedVideoFrame, now: MonotonicInstant) -> Bool {
        switch gate.admit(frame.sample) {
        case .decode: break
        case .skip:
            // Nobody waits for a picture.
            awaitsKeyframeSince = nil
            return false
        case .awaitKeyframe:
            let since = awaitsKeyframeSince ?? now
            awaitsKeyframeSince = since
            guard now - since >= VideoReceiveStream.keyframePatience else { return false }
            gate.goOnWithoutReferences()
            goesOnAsItIs = true
        }
        awaitsKeyframeSince = nil
        hasDrifted = !frame.sample.isSync && (hasDrifted || skipMode.loopFilter == .none)
        return true
    }

    /// The time since the last packet of the source that could be shown; nil before the first picture.
    func silence(now: MonotonicInstant) -> Duration? {
        newestTime.map { time in now - (isPicturePaused ? max(time, newestArrival ?? time) : time) }
    }

    /// The time from one picture to the next, as the sender makes them: one long pause does not count.
    var pictureInterval: Duration { min(intervals.newest, intervals.former) }

    // MARK: Decoding

    /// True if frames wait and no job runs.
    var hasJob: Bool { !isDecoding && !pending.isEmpty }

    /// Returns the next decode job, if frames wait and no job runs.
    ///
    /// - Parameters:
    ///   - deadline: When a tick needs the pictures. Those of a member that has much decoded are due later, and yield
    ///     if they are due after `yielding`.
    ///   - isAwaited: Whether the relay waits for a picture that differs from the newest.
    func takeJob(
        deadline: MonotonicInstant, yielding: MonotonicInstant = .distantFuture, isAwaited: Bool = false,
        now: MonotonicInstant
    ) -> Job? {
        guard hasJob else { return nil }
        isDecoding = true
        let samples = moveToJob()
        let deadline = max(deadline, budget.deadline(of: source.participant, samples: samples, now: now))
        let frames = inFlight.map(\.frame)
        let (decoder, source, shown) = (decoder, source, newest)
        let effort = DecodingEffort(loopFilter: skipMode.loopFilter)
        // A decoder remembers its device's fault, which is reported once.
        let expectsDevice = device != nil
        return Job(
            kind: .decode, queue: queue, deadline: deadline, yields: deadline > yielding, handedOut: now
        ) {
            decoder.value.effort = effort
            var batch = Self.decode(frames, with: decoder.value)
            if let shown { batch.compare(with: shown, codedSize: frames.map(\.sample.data.count).max() ?? 0) }
            batch.isAwaited = isAwaited && !batch.isUnchanged
            if expectsDevice { batch.deviceFault = decoder.value.deviceFault }
            if decoder.value.takeKeyframeWish() { batch.needsKeyframe = true }
            return .decoded(source, batch)
        }
    }

    /// Moves the frames of the next job; returns their samples.
    private func moveToJob() -> Double {
        var samples = 0.0
        let count = pending.firstIndex { frame in
            defer { samples += frame.samples }
            return samples > 0 && samples + frame.samples > Self.samplesOfJob
        }
        guard let count else {
            swap(&inFlight, &pending)
            return samples
        }
        inFlight.append(contentsOf: pending[..<count])
        pending.removeFirst(count)
        return inFlight.reduce(0) { $0 + $1.samples }
    }

    private static func decode(_ frames: [ReceivedVideoFrame], with decoder: DecodingPipeline) -> DecodedBatch {
        var batch = DecodedBatch()
        for frame in frames {
            let sample = frame.sample
            decoder.decode(sample) { event in
                guard case .output(let output) = event else { return }
                switch output.result {
                case .picture(let picture):
                    batch.decoded &+= 1
                    if decoder.usesDevice {
                        batch.onDevice &+= 1
                        if picture.pixelBuffer.surface == nil { batch.copied &+= 1 }
                    }
                    batch.samples += Double(sample.format.codedDimensions.area)
                    if sample.isSync { batch.needsKeyframe = false }
                    // A decoder that holds pictures back hands out one of an earlier frame of these, or of a run
                    // before.
                    let shown = frames.last { $0.sample.presentationTime == picture.presentationTime } ?? frame
                    guard !shown.isRecovering else { return }
                    if picture.isConcealed {
                        // After a loss on the way, the receiver of the stream knows what can be shown.
                        if !shown.followsLoss { batch.isDamaged = true }
                    } else if shown.sample.isSync {
                        batch.isDamaged = false
                    }
                    batch.newest = picture
                    batch.rotation = shown.rotation
                case .dropped(let reason):
                    batch.dropped &+= 1
                    if reason == .awaitingKeyframe { batch.needsKeyframe = true }
                case .failed(let error):
                    batch.dropped &+= 1
                    // A keyframe of a format that no decoder takes would fail, too.
                    if case .unsupportedFormat = error { return }
                    batch.needsKeyframe = true
                }
            }
            if decoder.takeLackOfReference(), !frame.followsLoss { batch.isDamaged = true }
        }
        return batch
    }

    /// Takes a job's result. Returns true if a keyframe is needed.
    func complete(_ batch: DecodedBatch, of completion: JobCompletion, now: MonotonicInstant) -> Bool {
        isDecoding = false
        let cost = completion.finished - completion.started
        budget.charge(cost, to: source.participant, now: now)
        for frame in inFlight {
            stages[.decodeQueue].observe(completion.started - frame.complete)
            stages[.decode].observe(cost / inFlight.count)
        }
        budget.decoded(onDevice: batch.onDevice, failed: batch.deviceFault != nil)
        if batch.deviceFault != nil { device = nil }
        framesDecoded &+= batch.decoded
        framesDropped &+= batch.dropped
        let isRefused = refusesDamage(of: batch, now: now)
        if let picture = batch.newest, !isEnding, !isRefused {
            newestTime = now
            // The picture that is shown stays, so that everybody sees that nothing has changed.
            if !batch.isUnchanged || newest == nil || rotation != batch.rotation {
                newest = picture.pixelBuffer
                newestTimes = times(of: picture, decodedBy: completion)
            }
            rotation = batch.rotation
        }
        inFlight.removeAll(keepingCapacity: true)
        if isEnding { beginAnotherStream() }
        return (batch.needsKeyframe || isRefused) && !pending.contains { $0.frame.sample.isSync }
    }

    /// Returns true if a batch is not to be shown, as parts of its pictures are guessed: the sender left them out. A
    /// keyframe is requested as after a loss, and the picture before stays until then; of a sender whose pictures are
    /// never whole, only now and then.
    private func refusesDamage(of batch: DecodedBatch, now: MonotonicInstant) -> Bool {
        isDamaged = batch.isDamaged ?? isDamaged
        guard isDamaged, damageRepairs.take(now: now) else { return false }
        isDamaged = false
        return true
    }

    /// Takes a picture that was decoded elsewhere. Returns false if it is the one that is shown already.
    func show(_ picture: PixelBuffer, rotation: VideoRotation, now: MonotonicInstant) -> Bool {
        newestTime = now
        guard newest.map({ $0 === picture }) != true || rotation != self.rotation else { return false }
        framesDecoded &+= 1
        newest = picture
        self.rotation = rotation
        return true
    }

    private func times(of picture: DecodedPicture, decodedBy completion: JobCompletion) -> SourceFrameTimes? {
        let shown = inFlight.last { $0.frame.sample.presentationTime == picture.presentationTime } ?? inFlight.last
        return shown.map { shown in
            SourceFrameTimes(
                source: source, number: framesDecoded, received: shown.frame.lastArrival, assembled: shown.complete,
                decodeStarted: completion.started, decoded: completion.finished, senderTime: shown.frame.senderTime)
        }
    }

    /// Ends the stream, at least for now: waiting and decoding frames must not be shown. The decoder and the memory of
    /// its pictures are given back; the next stream begins with another decoder.
    func end() {
        pending.removeAll(keepingCapacity: true)
        newest = nil
        budget.end(source)
        // A running job may yet find the device at fault.
        isEnding = isDecoding
        if !isDecoding { beginAnotherStream() }
    }

    private func beginAnotherStream() {
        isEnding = false
        isDamaged = false
        decoder = Self.makeDecoder(device, surfaceCopies)
    }

    /// Releases the picture of a source that is silent, or must not be seen.
    func forgetPicture() {
        newest = nil
    }
}
