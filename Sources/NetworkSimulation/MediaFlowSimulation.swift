internal import MediaCore
internal import RTP
public import RateControl

/// Runs a controller in a closed loop on virtual time: encoder model → pacer → link → feedback → controller.
///
/// It uses the very pacer, feedback and controller code of a real sender and receiver. The same configuration gives
/// the same report, bit for bit.
public struct MediaFlowSimulation<Controller: CongestionController> {
    private enum Event {
        case frame
        case sample
        case report
        case script(MediaFlowConfiguration.Event)
    }

    private struct Packet {
        var sequence: UInt16 = 0
        var size: DataSize
        /// The frame that it belongs to; nil for padding.
        var frame: Int?
        var sendTime = MonotonicInstant.zero
    }

    private enum FeedbackMessage {
        case transportWide(TransportFeedback)
        case receiverReport(fractionLost: Double, newestSent: MonotonicInstant, held: Duration)
    }

    private let configuration: MediaFlowConfiguration
    private let start = MonotonicInstant.zero
    private var now = MonotonicInstant.zero
    private var events = EventQueue<Event>()

    private var controller: Controller
    private var decision: ControlDecision
    private var encoder: EncoderModel
    private var pacer: Pacer<Packet>
    private var adapter = TransportFeedbackAdapter()
    private var link: LinkModel<Packet>
    private var recorder = TransportFeedbackRecorder(senderSSRC: 1)
    private var feedbackLink: LinkModel<FeedbackMessage>
    private var loss = ReceiverLoss()
    private var recording: MediaFlowRecording

    private var isSending = true
    private var isFeedbackLost = false
    private var applicationLimit: BitRate?

    /// The receiver's clock has an origin of its own, as in life.
    private let receiverClockOffset = Duration.seconds(86_400)

    public init(configuration: MediaFlowConfiguration, controller: Controller) {
        self.configuration = configuration
        self.controller = controller
        encoder = EncoderModel(configuration: configuration.encoder, seed: configuration.seed &* 3 &+ 1)
        pacer = Pacer(canPad: configuration.canPad)
        link = LinkModel(profile: configuration.link, seed: configuration.seed &* 3 &+ 2, start: .zero)
        feedbackLink = LinkModel(
            profile: configuration.feedbackLink, seed: configuration.seed &* 3 &+ 3, start: .zero)
        recording = MediaFlowRecording(configuration: configuration)
        decision = self.controller.advance(now: .zero)
    }

    /// Runs the whole simulation.
    public mutating func run() -> MediaFlowReport {
        apply(decision)
        for (time, event) in configuration.events { events.schedule(.script(event), at: start + time) }
        events.schedule(.frame, at: start)
        events.schedule(.sample, at: start + configuration.sampleInterval)
        if case .receiverReports(let interval) = configuration.feedback {
            events.schedule(.report, at: start + interval)
        }
        let end = start + configuration.duration
        while let next = nextTime, next <= end {
            now = max(now, next)
            step()
        }
        return recording.report(link: link.statistics, keyFrameCount: encoder.keyFrameCount)
    }

    private var nextTime: MonotonicInstant? {
        var next = min(decision.nextWakeUp, link.nextDelivery, feedbackLink.nextDelivery)
        if let time = events.nextTime { next = min(next, time) }
        if let time = pacer.nextSendTime(now: now) { next = min(next, time) }
        if configuration.feedback == .transportWide, recorder.nextFeedbackTime < .distantFuture {
            next = min(next, recorder.nextFeedbackTime - receiverClockOffset)
        }
        return next < .distantFuture ? next : nil
    }

    private mutating func step() {
        while let event = events.popDue(now: now) { handle(event) }
        receivePackets()
        sendFeedback()
        receiveFeedback()
        if now >= decision.nextWakeUp { advanceController() }
        sendPackets()
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .frame:
            encodeFrame()
            events.schedule(.frame, at: now + configuration.encoder.frameInterval)
        case .sample:
            recording.sample(
                controller: controller.snapshot, queueDelay: link.queueDelay(now: now),
                pacerDelay: pacer.queueDelay(now: now), now: now)
            events.schedule(.sample, at: now + configuration.sampleInterval)
        case .report:
            if case .receiverReports(let interval) = configuration.feedback {
                sendReceiverReport()
                events.schedule(.report, at: now + interval)
            }
        case .script(let event): handle(event)
        }
    }

    private mutating func handle(_ event: MediaFlowConfiguration.Event) {
        switch event {
        case .keyFrameRequest: encoder.requestKeyFrame()
        case .feedbackLost(let isLost): isFeedbackLost = isLost
        case .sending(let isSending): self.isSending = isSending
        case .applicationLimit(let limit): applicationLimit = limit
        }
    }

    private mutating func encodeFrame() {
        guard isSending else { return }
        guard pacer.queueDelay(now: now) < decision.frameTimeout ?? configuration.maximumPacerDelay else {
            recording.frameSkipped()
            return
        }
        let target = min(decision.targetBitRate, applicationLimit ?? decision.targetBitRate)
        let size = encoder.nextFrame(target: target)
        let largest = max(configuration.packetSize.bytes, 1)
        // Packets of one frame are of about the same size, as a packetizer makes them.
        let count = (size.bytes + largest - 1) / largest
        let frame = recording.frameEncoded(packetCount: count, now: now)
        var rest = size.bytes
        for index in 0..<count {
            let part = rest / (count - index)
            rest -= part
            let packet = Packet(size: DataSize(bytes: part), frame: frame)
            pacer.enqueue(packet, size: packet.size, priority: .video, now: now)
        }
    }

    private mutating func sendPackets() {
        while true {
            while let (packet, cluster) = pacer.dequeue(now: now) { send(packet, probeClusterID: cluster) }
            let padding = pacer.paddingNeeded(now: now)
            guard isSending, padding > .zero else { break }
            let size = DataSize(bytes: min(max(padding.bytes, 200), configuration.packetSize.bytes))
            pacer.enqueue(Packet(size: size, frame: nil), size: size, priority: .padding, now: now)
        }
    }

    private mutating func send(_ packet: Packet, probeClusterID: Int?) {
        var packet = packet
        let (sequence, sent) = adapter.packetSent(size: packet.size, probeClusterID: probeClusterID, now: now)
        packet.sequence = sequence
        packet.sendTime = now
        controller.packetSent(sent, now: now)
        updateHold()
        recording.packetSent(size: packet.size, isPadding: packet.frame == nil)
        link.send(packet, size: packet.size, now: now)
        // A first packet may start probes.
        if sent.transportSequence == 0 { advanceController() }
    }

    private mutating func receivePackets() {
        while let delivery = link.deliverTimed(now: now) {
            let packet = delivery.packet
            recording.packetReceived(
                size: packet.size, frame: packet.frame, queueingDelay: delivery.queueingDelay, now: now)
            loss.received(packet.sequence, sendTime: packet.sendTime, now: now)
            recorder.received(transportSequence: packet.sequence, now: now + receiverClockOffset)
        }
    }

    private mutating func sendFeedback() {
        guard configuration.feedback == .transportWide else { return }
        let receiverNow = now + receiverClockOffset
        guard recorder.feedbackDue(now: receiverNow) else { return }
        for feedback in recorder.makeFeedback(mediaSSRC: 2, now: receiverNow) {
            let size = DataSize(bytes: 40 + 2 * feedback.packets.count)
            if !isFeedbackLost { feedbackLink.send(.transportWide(feedback), size: size, now: now) }
        }
    }

    private mutating func sendReceiverReport() {
        guard let report = loss.makeReport(now: now), !isFeedbackLost else { return }
        feedbackLink.send(
            .receiverReport(
                fractionLost: report.fractionLost, newestSent: report.newestSent, held: report.held),
            size: DataSize(bytes: 80), now: now)
    }

    private mutating func receiveFeedback() {
        var hasNews = false
        while let message = feedbackLink.deliver(now: now) {
            hasNews = true
            switch message {
            case .transportWide(let feedback):
                if let report = adapter.handle(feedback, now: now) {
                    controller.feedbackReceived(report, now: now)
                }
            case .receiverReport(let fractionLost, let newestSent, let held):
                controller.receiverReportReceived(
                    fractionLost: fractionLost, roundTripTime: now - newestSent - held, now: now)
            }
        }
        if hasNews { advanceController() }
    }

    private mutating func advanceController() {
        controller.senderQueueChanged(pacer.queuedSize, now: now)
        decision = controller.advance(now: now)
        apply(decision)
    }

    private mutating func apply(_ decision: ControlDecision) {
        pacer.setRates(pacing: decision.pacingRate, now: now)
        updateHold()
        if let interval = decision.feedbackInterval { recorder.interval = interval }
        for cluster in decision.newProbeClusters { pacer.addProbe(cluster, now: now) }
    }

    /// Packets wait while the window is full.
    private mutating func updateHold() {
        pacer.isHeld = decision.congestionWindow.map { adapter.dataInFlight >= $0 } ?? false
    }
}
