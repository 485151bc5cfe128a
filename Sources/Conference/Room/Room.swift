import AudioMixing
import Compositing
import EncoderSharing
import LoadControl
import MediaCore
import NIOCore
import OrderedCollections
import PeerConnection
import RTP
import RoomAPI
import VideoCoding

/// A room: its members, its settings and its two clocks: video ticks, at which the newest picture of every source is
/// composed, and audio ticks, every 20 ms.
///
/// Its five planes do the work, each with its own state: audio, composition, encoders, forwarding and demands. The room
/// gives them values and the time, and passes their jobs, packets and commands to workers and connections. It never
/// waits for a source, an encoder or a network. It is sans I/O: it gets the time and returns jobs.
final class Room {
    let id: String
    let configuration: RelayConfiguration
    let overload: OverloadControl
    let decoding: DecodeBudget
    let audio: AudioPlane
    let composition: CompositionPlane
    let encoders: EncoderPlane
    let forwarding: ForwardingPlane
    let demands: DemandPlane
    /// The time of day that clocks in pictures show.
    var wallClock: WallClock
    private let events: RoomEventLog
    let timeline = RoomTimeline()
    private var tickMeter = TickMeter()
    var mixLag = MixLag()
    var videoTicks: TickSchedule
    var phaseLock = PhaseLock()
    private var jobs = CircularBuffer<Job>()

    private var members: OrderedDictionary<ParticipantID, Participant> = [:]
    var changeLimits: RoomChangeLimits
    /// The conditions for entering.
    var door: RoomDoor
    private(set) var layout = RoomLayout.grid
    /// The members that share a screen, the newest last.
    private(set) var presenters: [ParticipantID] = []
    /// Images, texts and clocks above everybody's picture.
    private(set) var overlays = OverlayList()
    /// The overlays in the form in which they are drawn.
    private(set) var resolvedOverlays: [CompositionOverlay] = []
    var shownRates = ShownRates()
    /// The recording that goes on; nil while nothing is recorded.
    var recording: String?
    /// Records what each source sends; nil while that is not recorded.
    var recorder: RoomRecorder?
    /// The live stream that goes on; nil: there is none.
    var stream: String?
    /// The servers that the room is sent to, in the order in which they were named.
    var outputs: [OutputStatus] = []
    /// The pictures of the room for recordings, streams and outputs.
    var composites: [RoomComposite] = []
    /// The number of composites that the room has had.
    var compositeCount: UInt64 = 0
    /// The links to the other relays of the room, by their names.
    var links: OrderedDictionary<String, CascadeLink> = [:]
    /// The other relays that have the room, as the cluster says: each is to have a link.
    var otherRelays: Set<String> = []
    /// The stage of the relay that leads the room; nil if this relay does, or no other tells.
    var stage: CascadeState.Stage?
    /// The room's epoch, if this relay leads the room.
    var conductedEpoch: Int64?
    /// The voices that are forwarded to other relays.
    var voices = CascadeVoices()
    /// The members who see themselves because there is no time for pictures of their own.
    var sharingMembers: Set<ParticipantID> = []

    /// - Parameter inherited: The conditions for entering on the relay that had the room before; nil: none had.
    init(
        id: String, inherited: EntryConditions?, configuration: RelayConfiguration, overload: OverloadControl,
        decoding: DecodeBudget, queues: JobQueueAllocator, events: RoomEventLog, wallClock: WallClock,
        now: MonotonicInstant
    ) {
        self.id = id
        self.configuration = configuration
        self.overload = overload
        self.decoding = decoding
        self.wallClock = wallClock
        self.events = events
        changeLimits = RoomChangeLimits(now: now)
        door = RoomDoor(inherited: inherited, time: Double(wallClock.ntpTime(at: now).unixSeconds), now: now)
        composition = CompositionPlane(room: id, configuration: configuration, queue: queues.next())
        audio = AudioPlane(room: id, configuration: configuration, queue: queues.next(), now: now)
        encoders = EncoderPlane(room: id, configuration: configuration, queues: queues)
        forwarding = ForwardingPlane(configuration: configuration)
        demands = DemandPlane(frameRate: configuration.frameRate)
        videoTicks = TickSchedule(origin: now, frequency: configuration.frameRate)
    }

    func popJob() -> Job? { jobs.popFirst() }

    var nextTick: MonotonicInstant {
        min(needsWaking ? videoTicks.nextAwake : videoTicks.next, audio.nextTick ?? .distantFuture)
    }
    /// The time from one video tick to the next that is composed.
    var tickInterval: Duration { videoTicks.interval }
    /// The measures of overload control that are in force, in a sentence; nil for none.
    var measures: String? { overload.sentence }

    // MARK: Members

    /// The members in the order of joining, those at other relays too.
    var participants: OrderedDictionary<ParticipantID, Participant>.Values { members.values }

    func participant(_ id: ParticipantID) -> Participant? { members[id] }

    func participant(publicID: String) -> Participant? { members.values.first { $0.publicID == publicID } }

    /// - Parameters:
    ///   - downlink: The pipeline of video to the participant; nil without video.
    ///   - place: Its place among the members; nil: the last.
    func add(_ participant: Participant, downlink: DownlinkPipeline?, at place: Int? = nil) {
        members.updateValue(
            participant, forKey: participant.id, insertingAt: min(place ?? members.count, members.count))
        encoders.setDownlink(downlink, of: participant.id)
        forwarding.addReceiver(participant.id)
        setAudioStreams(of: participant)
        composition.viewsChanged()
        announce(participant)
    }

    /// Removes a member. Returns its place among the members.
    ///
    /// - Parameter isMoving: The same person is added at once, at another relay: layouts that name it stay.
    @discardableResult
    func remove(_ participant: Participant, isMoving: Bool = false, now: MonotonicInstant) -> Int? {
        let place = members.index(forKey: participant.id)
        for content in SourceContent.allCases { keepExiting(content, of: participant, now: now) }
        members[participant.id] = nil
        decoding.remove(participant.id)
        presenters.removeAll { $0 == participant.id }
        if !participant.grants.isHidden { emit(.participantLeft(id: participant.publicID)) }
        let speaker = audio.activeSpeaker
        audio.remove(participant.id)
        voices.remove(participant.id)
        encoders.remove(participant.id)
        forwarding.remove(participant.id)
        demands.remove(participant.id)
        composition.remove(participant.id)
        recorder?.remove(participant.id, now: now)
        tellActiveSpeaker(unless: speaker)
        if !isMoving { forgetLayouts(about: participant.publicID) }
        composition.viewsChanged()
        return place
    }

    /// Updates the audio plane with the streams that a participant sends and receives.
    func setAudioStreams(of participant: Participant) {
        audio.setStreams(
            of: participant.id, sendsAudio: participant.sendsAudio, hearsMix: participant.hearsMix)
        audio.setAdmitted(participant.isMicrophoneAdmitted, of: participant.id)
        audio.setSeated(participant.holdsSeat, of: participant.id)
    }

    /// Cancels composing, because nobody is in the room any more.
    func end(now: MonotonicInstant) {
        endRecording(because: .roomClosed, now: now)
        if let stream { endStream(stream) }
        endOutputs(because: .roomClosed)
        endPlayers(because: .roomClosed)
        composition.end()
    }

    func emit(_ event: RoomEvent.Kind) { events.append(event, room: id) }

    // MARK: Choices

    /// Takes a layout that was checked.
    func adopt(_ wanted: RoomLayout) {
        guard wanted != layout else { return }
        layout = wanted
        composition.viewsChanged()
        emit(.layoutChanged(wanted))
    }

    /// Takes overlays that were checked.
    func adopt(_ wanted: OverlayList) {
        guard wanted != overlays else { return }
        overlays = wanted
        resolvedOverlays = wanted.resolved(with: configuration.images)
        composition.viewsChanged()
        emit(.overlaysChanged(wanted))
    }

    /// The first picture of a screen makes its tile; the end of its stream takes it away.
    func updateScreenShare(_ participant: Participant) {
        guard participant.sharesScreen != presenters.contains(participant.id) else { return }
        if participant.sharesScreen {
            presenters.append(participant.id)
        } else {
            presenters.removeAll { $0 == participant.id }
            demands.remove(SourceID(participant: participant.id, content: .screenShare))
        }
        composition.viewsChanged()
        announce(participant)
    }

    // MARK: Media in

    func videoFrame(_ frame: ReceivedVideoFrame, from participant: Participant, now: MonotonicInstant) {
        let made = participant.makePipeline(
            for: SourceContent(frame.content), budget: decoding, device: configuration.decodingDevice,
            surfaceCopies: configuration.copiesOfDecoded)
        guard let pipeline = made else {
            return
        }
        guard participant.isAdmitted(pipeline.source.content) else {
            pipeline.withhold(frame, now: now)
            return
        }
        forwarding.observe(frame, of: pipeline.source, now: now)
        record(frame, from: participant, now: now)
        if pipeline.enqueue(frame, now: now) {
            participant.peer.requestKeyframe(participant.stream(of: pipeline.source.content), now: now)
        }
    }

    /// Makes decode jobs of a participant's video frames: frames that came together are one job.
    func handOutDecodes(of participant: Participant, now: MonotonicInstant) {
        if let uplink = participant.uplink { handOutDecode(uplink, now: now) }
        if let screenShare = participant.screenShare { handOutDecode(screenShare, now: now) }
    }

    private func handOutDecode(_ pipeline: UplinkPipeline, now: MonotonicInstant) {
        // Each datagram and each wake-up asks, and mostly there is nothing: then no deadline is computed.
        guard pipeline.hasJob else { return }
        // Needed by the next tick. A member beyond its share of the time has no precedence over encoders.
        let job = pipeline.takeJob(
            deadline: videoTicks.nextAwake, yielding: now + tickInterval * 2, isAwaited: encoders.isStill, now: now)
        if let job { jobs.append(job) }
    }

    /// Takes an audio packet. Returns the receivers, and the links to other relays, to which it is forwarded.
    func audioPacket(
        _ packet: ReceivedAudioPacket, from participant: Participant, now: MonotonicInstant
    ) -> [Endpoint] {
        record(packet, from: participant)
        // While nothing is mixed, video ticks look at what the packets say.
        if audio.isPaused { videoTicks.wake() }
        var served = relay(packet, from: participant, now: now)
        for forwarded in audio.insert(packet, from: participant.id, now: now) {
            guard let receiver = members[forwarded.receiver],
                receiver.peer.forward(
                    packet, sampleCount: forwarded.sampleCount, level: forwarded.level, now: now)
            else { continue }
            audio.didForward(to: receiver.id)
            served.append(receiver)
        }
        return served
    }

    // MARK: Ticks

    func wake(now: MonotonicInstant) {
        if let job = audio.wake(losses: audioLoss, now: now) { jobs.append(job) }
        videoTicks.setFrequency(overload.limits.maximumFrameRate ?? configuration.frameRate)
        if needsWaking { videoTicks.wake() }
        guard let tick = videoTicks.takeTick(tolerance: 1, now: now) else { return }
        followFocus()
        let speaker = audio.activeSpeaker
        if let reports = audio.observeUndecoded(losses: audioLoss, now: now) {
            tellSpeakers(unless: speaker)
            observe(reports, now: now)
        }
        observeTick(tick, now: now)
        compose(at: tick.time, now: now)
    }

    private func audioLoss(_ id: ParticipantID) -> Double { members[id]?.peer.audioFractionLost ?? 0 }

    private func compose(at time: MonotonicInstant, now: MonotonicInstant) {
        chooseView(now: now)
        beginComposites(now: now)
        composition.setCanvases(
            encoders.canvases(
                of: (members.keys + composites.map(\.receiver)).lazy.map { [composition] id in
                    (id, composition.view(of: id)?.preference ?? .motion)
                }))
        let plan = settledPlan(at: MediaTime(time), now: now)
        updateDemands(plan, now: now)
        guard composition.wantsTick else { return pauseIfStill(now: now) }
        guard !composition.isComposing else {
            composition.tickMissed()
            overload.tickMissed(now: now)
            return
        }
        let frames = plan.requiredSources.compactMap { id in
            members[id.participant]?.pipeline(for: id.content)?.newestTimes
        }
        for picture in frames where picture.source.content == .camera { mixLag.shown(picture, at: time) }
        let job = composition.takeJob(
            at: time, showing: compositionSources(plan, now: now), frames: frames,
            clock: wallClock.ntpTime(at: time).unixSeconds, now: now)
        if let job { jobs.append(job) }
    }

    /// The picture of each receiver at a tick, after the choice of receivers that get a source's own packets instead.
    private func settledPlan(at time: MediaTime, now: MonotonicInstant) -> ViewPlan {
        let (plan, isDirected) = composition.plan(at: time) { scene }
        if isDirected { shownRates.expire() }
        guard updateForwarding(plan, now: now) else { return plan }
        composition.receiversChanged()
        return composition.plan(at: time) { scene }.plan
    }

    // MARK: Results

    func complete(
        _ batch: DecodedBatch, for participant: Participant, _ content: SourceContent, of completion: JobCompletion,
        now: MonotonicInstant
    ) {
        guard let pipeline = participant.pipeline(for: content) else { return }
        let before = pipeline.newest
        if pipeline.complete(batch, of: completion, now: now) {
            participant.peer.requestKeyframe(participant.stream(of: content), now: now)
        }
        if batch.newest != nil { pictureDecoded(of: pipeline.source, at: completion.finished) }
        if let newest = pipeline.newest, before.map({ $0 === newest }) != true { videoTicks.wake() }
        if content == .screenShare { updateScreenShare(participant) }
        handOutDecode(pipeline, now: now)
    }

    func complete(_ result: ComposedTick, of completion: JobCompletion, now: MonotonicInstant) {
        var tick = result
        tick.composed = completion.finished
        composition.complete(tick)
        timeline.composed(CompositionWork(tick), interval: tickInterval, now: now)
        let encodes = encoders.takeJobs(
            for: tick, to: viewers(encoders.receivers, now: now), interval: tickInterval, limits: overload.limits,
            now: now)
        jobs += encodes.jobs
        pauseIfStill(now: now)
        guard !tick.pictures.isEmpty else { return }
        for time in encodes.overtaken {
            if let slack = tickMeter.encoded(time, finished: completion.finished) {
                overload.tickEnded(slack: slack, now: now)
            }
        }
        let slack = tickMeter.composed(
            tick.captureTime, interval: tickInterval, jobs: encodes.jobs.count + encodes.postponed,
            finished: completion.finished)
        if let slack { overload.tickEnded(slack: slack, now: now) }
    }

    /// Takes an encoded frame. Returns the receivers to which it was sent.
    func complete(
        _ result: EncodedPicture, of completion: JobCompletion, now: MonotonicInstant
    ) -> [Participant] {
        if let slack = tickMeter.encoded(result.captureTime, finished: completion.finished) {
            overload.tickEnded(slack: slack, now: now)
        }
        let delivery = encoders.complete(
            result, of: completion, for: viewers(encoders.subscribers(of: completion.queue), now: now), now: now)
        let served = delivery.map { send($0, now: now) } ?? []
        if result.error != nil || result.deviceFault != nil, let failure = encoders.failure {
            emit(.encoderFailed(failure))
            overload.encoderFailed(failure, room: id, now: now)
        }
        if let job = encoders.resume(completion.queue, for: { viewers($0, now: now) }, now: now) { jobs.append(job) }
        return served
    }

    private func send(_ delivery: EncoderPlane.Delivery, now: MonotonicInstant) -> [Participant] {
        delivery.receivers.compactMap { id in
            guard let receiver = members[id] else {
                composite(id)?.take(delivery.frame, at: delivery.captureTime, lag: mixLag.behindComposed)
                return nil
            }
            if forwarding.encoderTakesOver(id, now: now) { receiver.peer.endForwarding(now: now) }
            receiver.peer.sendVideo(
                delivery.frame, payloads: delivery.payloads, captureTime: delivery.captureTime,
                targetTime: delivery.targetTime, ledger: delivery.ledger, now: now)
            return receiver
        }
    }

    func complete(_ ticks: [MixedTick], now: MonotonicInstant) {
        let speaker = audio.activeSpeaker
        for mix in audio.complete(ticks, now: now) {
            observe(mix.tick)
            observeLag(of: mix.tick)
            record(mix)
            for (id, packet) in mix.packets {
                members[id]?.peer.sendAudio(
                    packet.payload, sampleTime: mix.tick.sampleTime, level: packet.level,
                    captureTime: mix.tick.captureTime, lag: lagOfMix(for: id), now: now)
            }
        }
        tellSpeakers(unless: speaker)
        if let job = audio.wake(losses: audioLoss, now: now) { jobs.append(job) }
    }
}
