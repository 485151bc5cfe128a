import AudioMixing
import Compositing
import MediaCore
import NIOCore
import VideoCoding

/// A room: who is in it, and the two clocks that beat in it: video ticks, at which the newest picture of every source is
/// composed, and audio ticks each 20 ms.
///
/// The room never waits for a source, an encoder or a network. It is sans I/O: it is told the time and hands out jobs.
final class Room {
    /// Frames a second of Opus packets.
    static let audioFrequency = 50
    /// Audio ticks that one mixing job may catch up with; more would be heard as a burst of stale sound.
    static let maximumAudioBacklog: Int64 = 5

    let id: String
    private let configuration: RelayConfiguration
    private let compositor = QueueConfined(GridCompositor())
    let composeQueue: JobQueueID
    private let mixer = QueueConfined(AudioMixingSession())
    let mixQueue: JobQueueID

    private(set) var participants: [Participant] = []
    private(set) var jobs = CircularBuffer<Job>()
    private var videoTicks: TickSchedule
    private var audioTicks: TickSchedule
    private var isComposing = false
    private var isMixing = false
    private var waitingAudioTicks: [(index: Int64, time: MonotonicInstant)] = []
    private var audioInput = AudioMixingInput()

    private(set) var ticks: UInt64 = 0
    private(set) var missedTicks: UInt64 = 0
    private(set) var composedPictures: UInt64 = 0
    private(set) var lateAudioTicks: UInt64 = 0
    private(set) var audioFailures: UInt64 = 0

    init(
        id: String, configuration: RelayConfiguration, composeQueue: JobQueueID, mixQueue: JobQueueID,
        now: MonotonicInstant
    ) {
        self.id = id
        self.configuration = configuration
        self.composeQueue = composeQueue
        self.mixQueue = mixQueue
        videoTicks = TickSchedule(origin: now, frequency: configuration.frameRate)
        audioTicks = TickSchedule(origin: now, frequency: Self.audioFrequency)
    }

    func popJob() -> Job? { jobs.popFirst() }

    var nextTick: MonotonicInstant { min(videoTicks.next, audioTicks.next) }

    // MARK: Members

    func add(_ participant: Participant) {
        participants.append(participant)
        if participant.sendsAudio { audioInput.apply(.addSource(participant.id)) }
        if participant.hearsMix {
            audioInput.apply(.addReceiver(participant.id, AudioEncoderSettings(bitRate: participant.audioBitRate)))
        }
    }

    func remove(_ participant: Participant) {
        participants.removeAll { $0 === participant }
        if participant.sendsAudio { audioInput.apply(.removeSource(participant.id)) }
        if participant.hearsMix { audioInput.apply(.removeReceiver(participant.id)) }
    }

    func participant(_ id: ParticipantID) -> Participant? { participants.first { $0.id == id } }

    // MARK: Media in

    func videoFrame(_ frame: ReceivedVideoFrame, from participant: Participant, now: MonotonicInstant) {
        guard participant.uplink?.enqueue(frame, now: now) == false else {
            participant.peer.requestKeyFrame(now: now)
            return
        }
        handOutDecode(participant, now: now)
    }

    func audioPacket(_ packet: ReceivedAudioPacket, from participant: Participant) {
        audioInput.insert(
            AudioPacket(
                payload: packet.payload, rtpTimestamp: packet.rtpTimestamp, sequence: packet.sequence,
                arrival: packet.arrival),
            from: participant.id)
    }

    func audioBitRateChanged(_ rate: BitRate, for participant: Participant) {
        participant.audioBitRate = rate
        audioInput.apply(.setBitRate(rate, participant.id))
    }

    private func handOutDecode(_ participant: Participant, now: MonotonicInstant) {
        // Needed by the next tick.
        if let job = participant.uplink?.takeJob(deadline: videoTicks.next, now: now) { jobs.append(job) }
    }

    // MARK: Ticks

    func wake(now: MonotonicInstant) {
        while let tick = audioTicks.takeTick(tolerance: Self.maximumAudioBacklog, now: now) {
            waitingAudioTicks.append(tick)
        }
        handOutMix(now: now)
        if let tick = videoTicks.takeTick(tolerance: 1, now: now) { compose(at: tick.time, now: now) }
    }

    private func compose(at time: MonotonicInstant, now: MonotonicInstant) {
        let receivers = participants.filter { $0.downlink != nil }
        guard !receivers.isEmpty else { return }
        guard !isComposing else {
            missedTicks &+= 1
            return
        }
        let sources = participants.filter(\.isSource)
        var views: [View: Int] = [:]
        var requests: [CompositionRequest] = []
        var pictureIndex: [ParticipantID: Int] = [:]
        for receiver in receivers {
            guard let canvas = receiver.downlink?.dimensions else { continue }
            let shown = receiver.selfView == .always ? sources : sources.filter { $0 !== receiver }
            let view = View(canvas: canvas, sources: shown.map(\.id))
            if let known = views[view] {
                pictureIndex[receiver.id] = known
                continue
            }
            views[view] = requests.count
            pictureIndex[receiver.id] = requests.count
            requests.append(CompositionRequest(grid: view.sources, canvas: canvas))
        }
        let contents = Dictionary(
            uniqueKeysWithValues: sources.map { ($0.id, compositionSource($0, now: now)) })
        isComposing = true
        let (compositor, room, composed, indexes) = (compositor, id, requests, pictureIndex)
        jobs.append(
            Job(kind: .compose, queue: composeQueue, deadline: time, handedOut: now) {
                .composed(
                    room: room,
                    ComposedTick(
                        captureTime: time, pictures: compositor.value.compose(composed, sources: contents),
                        pictureIndex: indexes))
            })
    }

    /// What two receivers must have in common to be sent the same picture.
    private struct View: Hashable {
        var canvas: VideoDimensions
        var sources: [ParticipantID]
    }

    private func compositionSource(_ participant: Participant, now: MonotonicInstant) -> CompositionSource {
        var content = TileContent.placeholder
        if let time = participant.uplink?.newestTime {
            let age = now - time
            if age > configuration.silentAfter { participant.uplink?.forgetPicture() }
            if let picture = participant.uplink?.newest {
                content = .picture(picture, isStale: age > configuration.staleAfter)
            }
        }
        return CompositionSource(id: participant.id, name: participant.name, content: content)
    }

    private func handOutMix(now: MonotonicInstant) {
        guard !isMixing, !waitingAudioTicks.isEmpty else { return }
        if waitingAudioTicks.count > 1 { lateAudioTicks &+= UInt64(waitingAudioTicks.count - 1) }
        let excess = waitingAudioTicks.count - Int(Self.maximumAudioBacklog)
        if excess > 0 { waitingAudioTicks.removeFirst(excess) }
        isMixing = true
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
        _ batch: DecodedBatch, for participant: Participant, of completion: JobCompletion, now: MonotonicInstant
    ) {
        if participant.uplink?.complete(batch, of: completion, now: now) == true {
            participant.peer.requestKeyFrame(now: now)
        }
        handOutDecode(participant, now: now)
    }

    func complete(_ tick: ComposedTick, of completion: JobCompletion, now: MonotonicInstant) {
        isComposing = false
        ticks &+= 1
        composedPictures &+= UInt64(tick.pictures.count)
        let duration = completion.finished - completion.handedOut
        for participant in participants {
            guard participant.downlink != nil, let index = tick.pictureIndex[participant.id],
                tick.pictures.indices.contains(index)
            else { continue }
            participant.downlink?.observeComposition(duration)
            let job = participant.downlink?.takeJob(
                picture: tick.pictures[index], captureTime: tick.captureTime,
                hasRoom: participant.peer.hasRoomForVideo(now: now), deadline: tick.captureTime + videoTicks.interval,
                now: now)
            if let job { jobs.append(job) }
        }
    }

    func complete(
        _ result: EncodedPicture, for participant: Participant, of completion: JobCompletion, now: MonotonicInstant
    ) {
        participant.downlink?.complete(result, of: completion)
        guard let frame = result.frame else { return }
        participant.peer.sendVideo(
            frame, captureTime: result.captureTime, targetTime: completion.handedOut, now: now)
    }

    func complete(_ ticks: [MixedTick], now: MonotonicInstant) {
        isMixing = false
        for tick in ticks {
            audioFailures &+= UInt64(tick.output.failures.count)
            for participant in participants {
                if let report = tick.output.sources[participant.id] { participant.audio = report }
                if let packet = tick.output.packets[participant.id], !packet.maySkip {
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
