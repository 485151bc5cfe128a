import AudioMixing
import Compositing
import MediaCore
import NIOCore
import PeerConnection
import RTP
import RoomAPI
import SecureTransport
import VideoCoding

/// A room: who is in it, and the two clocks that beat in it: video ticks, at which the newest picture of every source
/// is composed, and audio ticks each 20 ms.
///
/// The room never waits for a source, an encoder or a network. It is sans I/O: it is told the time and hands out jobs.
final class Room {
    /// Frames a second of Opus packets.
    static let audioFrequency = 50
    /// Audio ticks that one mixing job may catch up with; more would be heard as a burst of stale audio.
    static let maximumAudioBacklog: Int64 = 5

    let id: String
    let configuration: RelayConfiguration
    private let overload: OverloadControl
    let decoding: DecodeBudget
    private var tickMeter = TickMeter()
    private let wallClock: WallClock
    var changeLimits: RoomChangeLimits
    private let renderer: QueueConfined<LazyRenderer>
    let composeQueue: JobQueueID
    let encoding: RoomEncoding
    let forwarding = RoomForwarding()
    /// Cancels what is being composed when the room ends.
    private let cancellation = CompositionCancellation()
    private let mixer: QueueConfined<AudioMixingSession>
    let mixQueue: JobQueueID

    private(set) var participants: [Participant] = []
    var layout = RoomLayout.grid
    /// Those who present a screen, the newest last.
    var presenters: [ParticipantID] = []
    var speaker = ActiveSpeakerDetector()
    /// What lies above everybody's picture.
    var overlays = OverlayList()
    /// The same as it is drawn.
    var resolvedOverlays: [CompositionOverlay] = []
    private let events: RoomEventLog
    let timeline = RoomTimeline()
    /// Something has changed since receivers were last shown what is wanted for them.
    private var needsDirecting = true
    /// Who is sent what; nil when that is to be worked out anew.
    private(set) var viewPlan: ViewPlan?
    /// Others are to be given pictures now than those of the plan.
    private var needsPlan = false
    /// The sources that are to be seen once nothing moves any more, and the largest tile of each.
    var wantedTiles: [SourceID: VideoDimensions] = [:]
    var shownRates = ShownRates()
    var exiting = ExitingSources()
    /// The renderer holds pictures of the last tick.
    private var rendererHoldsPictures = false
    private(set) var jobs = CircularBuffer<Job>()
    private var videoTicks: TickSchedule
    private var audioTicks: TickSchedule
    private var isComposing = false
    private var isMixing = false
    private var waitingAudioTicks: [(index: Int64, time: MonotonicInstant)] = []
    /// Nobody is sent a mix, and packets say themselves how loud they are: nothing is decoded or mixed.
    private(set) var isMixerPaused = false
    private var audioInput = AudioMixingInput()

    private(set) var ticks: UInt64 = 0
    private(set) var missedTicks: UInt64 = 0
    private(set) var composedPictures: UInt64 = 0
    private(set) var pictures = PictureCounters()
    private(set) var lateAudioTicks: UInt64 = 0
    private(set) var audioFailures: UInt64 = 0

    init(
        id: String, configuration: RelayConfiguration, overload: OverloadControl, decoding: DecodeBudget,
        queues: JobQueueAllocator, events: RoomEventLog, wallClock: WallClock, now: MonotonicInstant
    ) {
        self.id = id
        self.configuration = configuration
        self.overload = overload
        self.decoding = decoding
        self.wallClock = wallClock
        changeLimits = RoomChangeLimits(now: now)
        mixer = QueueConfined(AudioMixingSession(maximumVoices: configuration.maximumVoices))
        renderer = QueueConfined(LazyRenderer(makeCompositor: configuration.makeCompositor))
        composeQueue = queues.next()
        mixQueue = queues.next()
        encoding = RoomEncoding(room: id, configuration: configuration, overload: overload, queues: queues)
        self.events = events
        videoTicks = TickSchedule(origin: now, frequency: configuration.frameRate)
        audioTicks = TickSchedule(origin: now, frequency: Self.audioFrequency)
    }

    func popJob() -> Job? { jobs.popFirst() }

    var nextTick: MonotonicInstant { isMixerPaused ? videoTicks.next : min(videoTicks.next, audioTicks.next) }
    /// The time from one video tick to the next that is composed.
    var tickInterval: Duration { videoTicks.interval * overload.limits.frameRateDivisor }
    /// What overload control has the room do without, in a sentence; nil for nothing.
    var measures: String? { overload.sentence }

    // MARK: Members

    func add(_ participant: Participant) {
        participants.append(participant)
        changeAudio(of: participant, sentAudio: false, heardMix: false)
        viewsChanged()
        announce(participant)
    }

    func remove(_ participant: Participant, now: MonotonicInstant) {
        for content in SourceContent.allCases { keepDeparting(content, of: participant, now: now) }
        participants.removeAll { $0 === participant }
        decoding.remove(participant.id)
        presenters.removeAll { $0 == participant.id }
        if participant.sendsAudio { audioInput.apply(.removeSource(participant.id)) }
        if participant.hearsMix { setMixed(false, participant) }
        emit(.participantLeft(id: participant.publicID))
        forwarding.forget(participant)
        let speakerBefore = speaker.activeSpeaker
        speaker.remove(participant.id)
        speakerMayHaveChanged(from: speakerBefore)
        forgetLayouts(about: participant.publicID)
        viewsChanged()
    }

    /// Lets the mixer follow what a participant sends and hears now.
    func changeAudio(of participant: Participant, sentAudio: Bool, heardMix: Bool) {
        if participant.sendsAudio != sentAudio {
            audioInput.apply(participant.sendsAudio ? .addSource(participant.id) : .removeSource(participant.id))
        }
        if participant.hearsMix != heardMix {
            participant.audioForwarding.reset()
            setMixed(participant.hearsMix, participant)
        }
        if !participant.sendsAudio { participant.forgetAudio() }
    }

    /// Has the mixer make packets for a participant, or not any more.
    func setMixed(_ isMixed: Bool, _ participant: Participant) {
        if isMixed { setMixerPaused(false) }
        let settings = AudioEncoderSettings(
            bitRate: participant.audioBitRate, expectedPacketLoss: participant.expectedAudioLoss)
        audioInput.apply(isMixed ? .addReceiver(participant.id, settings) : .removeReceiver(participant.id))
    }

    /// Has the mixer rest, or begin anew: what it knew of its sources is old by then.
    func setMixerPaused(_ isPaused: Bool) {
        guard isPaused != isMixerPaused else { return }
        isMixerPaused = isPaused
        for participant in participants where participant.sendsAudio {
            audioInput.apply(isPaused ? .removeSource(participant.id) : .addSource(participant.id))
        }
    }

    /// The next tick works out anew what everybody is to be shown.
    func viewsChanged() { needsDirecting = true }

    /// Nobody is here any more: what is being composed is not wanted.
    func end() { cancellation.cancel() }

    func emit(_ event: RoomEvent.Kind) { events.append(event, room: id) }

    func participant(_ id: ParticipantID) -> Participant? { participants.first { $0.id == id } }

    // MARK: Media in

    func videoFrame(_ frame: ReceivedVideoFrame, from participant: Participant, now: MonotonicInstant) {
        guard let pipeline = participant.makePipeline(for: SourceContent(frame.content), budget: decoding) else {
            return
        }
        if pipeline.enqueue(frame, now: now) { participant.peer.requestKeyframe(frame.content, now: now) }
    }

    /// Has decoded what came of a participant's video: frames that came together are one job.
    func handOutDecodes(of participant: Participant, now: MonotonicInstant) {
        if let uplink = participant.uplink { handOutDecode(uplink, now: now) }
        if let screenShare = participant.screenShare { handOutDecode(screenShare, now: now) }
    }

    /// Returns those to whom the packet is sent as it is.
    func audioPacket(
        _ packet: ReceivedAudioPacket, from participant: Participant, now: MonotonicInstant
    ) -> [Participant] {
        if !isMixerPaused {
            audioInput.insert(
                AudioPacket(
                    payload: packet.payload, rtpTimestamp: packet.rtpTimestamp, sequence: packet.sequence,
                    arrival: packet.arrival, claimedLevel: packet.level),
                from: participant.id)
        }
        return forward(packet, from: participant, now: now)
    }

    func audioBitRateChanged(_ rate: BitRate, for participant: Participant) {
        participant.audioBitRate = rate
        if participant.audioForwarding.isMixed { audioInput.apply(.setBitRate(rate, participant.id)) }
    }

    private func handOutDecode(_ pipeline: UplinkPipeline, now: MonotonicInstant) {
        // Needed by the next tick.
        if let job = pipeline.takeJob(deadline: videoTicks.next, now: now) { jobs.append(job) }
    }

    // MARK: Ticks

    func wake(now: MonotonicInstant) {
        if !isMixerPaused {
            while let tick = audioTicks.takeTick(tolerance: Self.maximumAudioBacklog, now: now) {
                waitingAudioTicks.append(tick)
            }
            handOutMix(now: now)
        }
        if let tick = videoTicks.takeTick(tolerance: 1, now: now) {
            if isMixerPaused { observeUndecodedAudio(now: now) }
            observeTick(tick.index, now: now)
            guard tick.index.isMultiple(of: Int64(overload.limits.frameRateDivisor)) else { return }
            compose(at: tick.time, now: now)
        }
    }

    private func compose(at time: MonotonicInstant, now: MonotonicInstant) {
        if encoding.chooseView(for: participants, now: now) || canvasesHaveChanged { viewsChanged() }
        let mediaTime = MediaTime(time)
        let plan = settledViewPlan(at: mediaTime, now: now)
        updateDemands(plan, now: now)
        // Where nobody looks any more, the renderer is called once more, to let go of what it holds.
        guard !plan.requests.isEmpty || rendererHoldsPictures else { return }
        guard !isComposing else {
            missedTicks &+= 1
            overload.tickMissed(now: now)
            return
        }
        let inputs = CompositionInputs(
            sources: compositionSources(plan, now: now),
            wallClock: plan.showsClock ? wallClock.ntpTime(at: time).unixSeconds : nil)
        isComposing = true
        rendererHoldsPictures = !plan.requests.isEmpty
        let frames = plan.requiredSources.compactMap { id in
            participant(id.participant)?.pipeline(for: id.content)?.newestTimes
        }
        let (renderer, room, cancellation) = (renderer, id, cancellation)
        jobs.append(
            Job(kind: .compose, queue: composeQueue, deadline: time, handedOut: now) {
                let composed = renderer.value.render(
                    plan.requests, inputs: inputs, at: mediaTime, cancellation: cancellation)
                return .composed(
                    room: room,
                    ComposedTick(
                        captureTime: time, composed: composed, plan: plan, frames: frames,
                        sourceCount: inputs.sources.count, handedOut: now))
            })
    }

    /// Who is given which picture at a tick, now that it is seen who is sent a source's own packets instead.
    private func settledViewPlan(at time: MediaTime, now: MonotonicInstant) -> ViewPlan {
        let plan = currentViewPlan(at: time)
        guard updateForwarding(plan, now: now) else { return plan }
        needsPlan = true
        return currentViewPlan(at: time)
    }

    private func currentViewPlan(at time: MediaTime) -> ViewPlan {
        if needsDirecting {
            needsDirecting = false
            direct(at: time)
        } else if !needsPlan, let viewPlan, time < viewPlan.end {
            return viewPlan
        }
        needsPlan = false
        let plan = makeViewPlan(at: time)
        viewPlan = plan
        exiting.keep(plan.requiredSources)
        return plan
    }

    private func handOutMix(now: MonotonicInstant) {
        guard !isMixing, !waitingAudioTicks.isEmpty else { return }
        if waitingAudioTicks.count > 1 { lateAudioTicks &+= UInt64(waitingAudioTicks.count - 1) }
        let excess = waitingAudioTicks.count - Int(Self.maximumAudioBacklog)
        if excess > 0 { waitingAudioTicks.removeFirst(excess) }
        isMixing = true
        updateAudioForwarding(now: now)
        for participant in participants where participant.hearsMix {
            let loss = participant.peer.audioFractionLost
            guard loss != participant.expectedAudioLoss else { continue }
            participant.expectedAudioLoss = loss
            audioInput.apply(.setExpectedPacketLoss(loss, participant.id))
        }
        let (mixer, room, ticks, input) = (mixer, id, waitingAudioTicks, audioInput.take())
        waitingAudioTicks.removeAll(keepingCapacity: true)
        let deadline = ticks[0].time + .milliseconds(5)
        jobs.append(
            Job(kind: .mix, queue: mixQueue, deadline: deadline, handedOut: now) {
                let mixed = ticks.enumerated().map { position, tick in
                    MixedTick(
                        captureTime: tick.time,
                        sampleTime: UInt32(truncatingIfNeeded: tick.index * Int64(AudioFormat.frameSampleCount)),
                        output: mixer.value.tick(position == 0 ? input : AudioMixingInput(), now: tick.time))
                }
                return .mixed(room: room, mixed)
            })
    }

    // MARK: Results

    func complete(
        _ batch: DecodedBatch, for participant: Participant, _ content: SourceContent, of completion: JobCompletion,
        now: MonotonicInstant
    ) {
        guard let pipeline = participant.pipeline(for: content) else { return }
        if pipeline.complete(batch, of: completion, now: now) {
            participant.peer.requestKeyframe(content.negotiated, now: now)
        }
        if content == .screenShare { updateScreenShare(participant) }
        handOutDecode(pipeline, now: now)
    }

    func complete(_ result: ComposedTick, of completion: JobCompletion, now: MonotonicInstant) {
        var tick = result
        tick.composed = completion.finished
        isComposing = false
        ticks &+= 1
        composedPictures &+= UInt64(tick.pictures.count)
        pictures.count(tick.origins)
        timeline.composed(CompositionWork(tick), interval: tickInterval, now: now)
        let encodes = encoding.takeJobs(for: tick, to: participants, interval: tickInterval, now: now)
        jobs += encodes.jobs
        guard !tick.pictures.isEmpty else { return }
        let slack = tickMeter.composed(
            tick.captureTime, interval: tickInterval, jobs: encodes.jobs.count + encodes.postponed,
            finished: completion.finished)
        if let slack { overload.tickEnded(slack: slack, now: now) }
    }

    /// Returns those to whom the frame was sent.
    func complete(
        _ result: EncodedPicture, of completion: JobCompletion, now: MonotonicInstant
    ) -> [Participant] {
        if let slack = tickMeter.encoded(result.captureTime, finished: completion.finished) {
            overload.tickEnded(slack: slack, now: now)
        }
        let served = encoding.complete(result, of: completion, for: participants, now: now)
        if result.error != nil, let failure = encoding.failure {
            emit(.encoderFailed(failure))
            overload.encoderFailed(failure, room: id, now: now)
        }
        if let job = encoding.resume(after: completion, for: participants, now: now) { jobs.append(job) }
        return served
    }

    func complete(_ ticks: [MixedTick], now: MonotonicInstant) {
        isMixing = false
        for tick in ticks {
            audioFailures &+= UInt64(tick.output.failures.count)
            let sources = tick.output.sources
            recordLevels(sources, now: tick.captureTime)
            observe(tick)
            for participant in participants {
                guard let packet = tick.output.packets[participant.id],
                    participant.audioForwarding.takesMix(now: now, isPlayed: { sources[$0]?.isPlaying ?? true })
                else { continue }
                if !packet.maySkip {
                    participant.peer.sendAudio(
                        packet.payload, sampleTime: tick.sampleTime,
                        level: packet.level,
                        captureTime: tick.captureTime, now: now)
                }
            }
        }
        handOutMix(now: now)
    }
}
