import CongestionControl
import LinkEmulation
import MediaCore
import RTP

/// A sender of video, and of audio beside it, under a congestion controller, and its receiver.
///
/// What the relay does is done by the relay's own code: pacing, packets' numbers, feedback, and where lost packets are
/// repaired or pictures are real also H.264 payloads, the history, the jitter buffer and the budget of what is sent.
struct MediaFlow: SimulatedFlow {
    struct Outgoing: Sendable {
        var size: DataSize
        /// The frame that it belongs to; one of the constants below otherwise.
        var frame: Int
        var isLastOfFrame = false
        /// What it holds, where the flow has a stream.
        var content: SentVideoStream.Packet?
        /// The transport-wide number that it had when it was sent first; nil for what was not sent before.
        var repeatedSequence: Int64?

        static let padding = -1
        static let audio = -2
    }

    enum FeedbackMessage {
        case transportWide(TransportFeedback)
        case congestionControl(CongestionControlFeedback)
        case receiverReport(fractionLost: Double, newestSent: MonotonicInstant, held: Duration)
        case missing(GenericNACK)
        case pictureLoss
    }

    enum Timer {
        static let frame = -1
        static let audio = -2
        static let report = -3
        static let stop = -4
        // From zero on: the events of the parameters.
    }

    static let audioInterval = Duration.milliseconds(20)

    let number: Int
    let parameters: MediaFlowParameters
    var recording: MediaFlowRecording
    var messages = MessageSlots<FeedbackMessage>()
    var isSending = true
    var isFeedbackLost = false

    // The sender.
    var controller: any CongestionController
    var decision: ControlDecision
    var encoder: EncoderModel
    let codec: (any PictureCodec)?
    var codecFailure: PictureCodecError?
    var isKeyframeRequested = false
    var lastKeyframeRequest: MonotonicInstant?
    var pacer: Pacer<Outgoing>
    var adapter = TransportFeedbackAdapter()
    let modelFrame: ModelFrame
    /// Nil where neither losses are repaired nor pictures are real: then sizes are all that matters.
    let sentStream: SentVideoStream?
    var allocator: BitrateAllocator
    var budget = SendBudget()
    var fractionLost = 0.0
    var hasFeedback = false
    var applicationLimit: BitRate?
    /// Frames since the controller asked for the first time to leave some out.
    var dropCounter = 0

    /// What the packets of the stream hold that are under way, by their transport-wide numbers.
    var contents: MessageSlots<SentVideoStream.Packet>

    // The receiver.
    var recorder: TransportFeedbackRecorder
    var congestionRecorder: CongestionFeedbackRecorder
    let receivedStream: ReceivedVideoStream?
    var loss = ReceiverLoss()
    /// The receiver's clock has an origin of its own, as in life.
    let receiverClockOffset = Duration.seconds(86_400)

    init(
        number: Int, parameters: MediaFlowParameters, controller: any CongestionController,
        codec: (any PictureCodec)? = nil, setting: MediaFlowRecording.Setting, seed: UInt64
    ) {
        self.number = number
        self.parameters = parameters
        self.controller = controller
        self.codec = codec
        encoder = EncoderModel(configuration: parameters.encoder, seed: seed)
        pacer = Pacer(canPad: parameters.canPad)
        recorder = TransportFeedbackRecorder(senderSSRC: 1, interval: parameters.feedbackInterval)
        congestionRecorder = CongestionFeedbackRecorder(
            senderSSRC: 1, mediaSSRC: 2, interval: parameters.feedbackInterval,
            reportsFrameEnds: parameters.reportsFrameEnds)
        modelFrame = ModelFrame(packetSize: parameters.packetSize)
        let repairs = parameters.repair == .nack
        let hasStream = repairs || codec != nil
        sentStream = hasStream ? SentVideoStream(packetSize: parameters.packetSize) : nil
        receivedStream = hasStream ? ReceivedVideoStream(repairs: repairs, needsReferences: codec != nil) : nil
        contents = MessageSlots(capacity: hasStream ? 4096 : 1)
        // The sizes of the model are those on the wire.
        allocator = BitrateAllocator(
            configuration: BitrateAllocator.Configuration(
                audio: nil, video: parameters.encoder.minimum...parameters.encoder.maximum,
                packetOverhead: codec == nil ? .zero : SentVideoStream.packetOverhead,
                videoPayloadSize: parameters.packetSize - SentVideoStream.packetOverhead))
        recording = MediaFlowRecording(setting: setting, waitsForDelivery: hasStream)
        decision = self.controller.advance(now: .zero + parameters.start)
    }

    func report(link: LinkModel<SimulatedPacket>.Statistics) -> MediaFlowReport {
        var report = recording.report(link: link, keyframeCount: codec?.keyframeCount ?? encoder.keyframeCount)
        if let quality = codec?.quality {
            report.metrics[.pictureNoise] = quality.psnr
            report.metrics[.pictureSimilarity] = quality.ssim
        }
        return report
    }

    /// What came of it, when the simulation is over.
    func result() -> (report: MediaFlowReport, samples: [FlowSample]) {
        (report(link: LinkModel<SimulatedPacket>.Statistics()), recording.flowSamples)
    }

    var samples: [MediaFlowSample] { recording.samples }

    // MARK: Events

    mutating func begin(_ network: SimulatedNetwork) {
        let start = MonotonicInstant.zero + parameters.start
        apply(decision, now: start)
        for (index, item) in parameters.events.enumerated() {
            network.schedule(flow: number, tag: index, at: .zero + item.time)
        }
        network.schedule(flow: number, tag: Timer.frame, at: start)
        if parameters.audio != nil { network.schedule(flow: number, tag: Timer.audio, at: start) }
        if let interval = reportInterval { network.schedule(flow: number, tag: Timer.report, at: start + interval) }
        if let stop = parameters.stop { network.schedule(flow: number, tag: Timer.stop, at: .zero + stop) }
        network.wake(flow: number, at: max(decision.nextWakeUp, start))
    }

    private var reportInterval: Duration? {
        if case .receiverReports(let interval) = parameters.feedback { return interval }
        return parameters.reportInterval
    }

    mutating func timer(_ tag: Int, _ network: SimulatedNetwork) {
        switch tag {
        case Timer.frame:
            encodeFrame(now: network.now)
            network.schedule(flow: number, tag: Timer.frame, at: network.now + parameters.encoder.frameInterval)
        case Timer.audio:
            sendAudio(now: network.now)
            network.schedule(flow: number, tag: Timer.audio, at: network.now + Self.audioInterval)
        case Timer.report:
            sendReceiverReport(network)
            if let interval = reportInterval {
                network.schedule(flow: number, tag: Timer.report, at: network.now + interval)
            }
        case Timer.stop: setSending(false)
        default: handle(parameters.events[tag].event)
        }
        network.wake(flow: number, at: network.now)
    }

    private mutating func handle(_ event: MediaFlowParameters.Event) {
        switch event {
        case .keyframeRequest: requestKeyframe()
        case .contentChange(let factor): encoder.contentChanged(factor: factor)
        case .feedbackLost(let isLost): isFeedbackLost = isLost
        case .sending(let isSending): setSending(isSending)
        case .applicationLimit(let limit): applicationLimit = limit
        }
    }

    mutating func requestKeyframe() {
        encoder.requestKeyframe()
        isKeyframeRequested = true
    }

    private mutating func setSending(_ isSending: Bool) {
        self.isSending = isSending
        // A probe must not wait for padding that is not made.
        pacer.canPad = isSending && parameters.canPad
    }

    mutating func wake(_ network: SimulatedNetwork) {
        let now = network.now
        if let stream = receivedStream, stream.nextDeadline <= now { deliver(now: now) }
        sendFeedback(network)
        if hasFeedback || now >= decision.nextWakeUp {
            hasFeedback = false
            advanceController(now: now)
        }
        sendPackets(network)
        var next = decision.nextWakeUp
        if let time = pacer.nextSendTime(now: now) { next = min(next, time) }
        network.wake(flow: number, at: min(next, nextReceiverWakeUp))
    }

    mutating func receive(_ packet: SimulatedPacket, _ network: SimulatedNetwork) {
        switch packet.direction {
        case .forward:
            receiveMedia(packet, now: network.now)
            network.wake(flow: number, at: nextReceiverWakeUp)
        case .backward:
            receiveFeedback(packet, now: network.now)
            network.wake(flow: number, at: network.now)
        }
    }

    mutating func sample(_ network: SimulatedNetwork) {
        let now = network.now
        let path = network.path(of: number).forward
        let from = recording.lastSample
        recording.sample(
            controller: controller.snapshot,
            capacity: network.capacity(of: path, from: from, to: now - .zero),
            isActive: isSending && now - .zero > parameters.start,
            queueDelay: network.queueDelay(of: path), pacerDelay: pacer.queueDelay(now: now), now: now)
    }
}
