import MediaCore
import RTP
import RateControl

/// A sender of video, and of audio beside it, under a congestion controller, and its receiver.
struct MediaFlow: SimulatedFlow {
    struct Outgoing: Sendable {
        var size: DataSize
        /// The frame that it belongs to; one of the constants below otherwise.
        var frame: Int
        var isLastOfFrame = false

        static let padding = -1
        static let audio = -2
    }

    private enum FeedbackMessage {
        case transportWide(TransportFeedback)
        case congestionControl(CongestionControlFeedback)
        case receiverReport(fractionLost: Double, newestSent: MonotonicInstant, held: Duration)
    }

    private enum Timer {
        static let frame = -1
        static let audio = -2
        static let report = -3
        static let stop = -4
        // From zero on: the events of the parameters.
    }

    static let audioInterval = Duration.milliseconds(20)

    private let number: Int
    private let parameters: MediaFlowParameters
    private var controller: any CongestionController
    private var decision: ControlDecision
    private var encoder: EncoderModel
    private var pacer: Pacer<Outgoing>
    private var adapter = TransportFeedbackAdapter()
    private var recorder: TransportFeedbackRecorder
    private var congestionRecorder: CongestionFeedbackRecorder
    private var loss = ReceiverLoss()
    private var messages = MessageSlots<FeedbackMessage>()
    private var recording: MediaFlowRecording

    private var isSending = true
    private var isFeedbackLost = false
    private var hasFeedback = false
    private var applicationLimit: BitRate?

    /// The receiver's clock has an origin of its own, as in life.
    private let receiverClockOffset = Duration.seconds(86_400)

    init(
        number: Int, parameters: MediaFlowParameters, controller: any CongestionController,
        setting: MediaFlowRecording.Setting, seed: UInt64
    ) {
        self.number = number
        self.parameters = parameters
        self.controller = controller
        encoder = EncoderModel(configuration: parameters.encoder, seed: seed)
        pacer = Pacer(canPad: parameters.canPad)
        recorder = TransportFeedbackRecorder(senderSSRC: 1, interval: parameters.feedbackInterval)
        congestionRecorder = CongestionFeedbackRecorder(
            senderSSRC: 1, mediaSSRC: 2, interval: parameters.feedbackInterval)
        recording = MediaFlowRecording(setting: setting)
        decision = self.controller.advance(now: .zero + parameters.start)
    }

    func report(link: LinkModel<SimulatedPacket>.Statistics) -> MediaFlowReport {
        recording.report(link: link, keyFrameCount: encoder.keyFrameCount)
    }

    /// What came of it, when the simulation is over.
    func result() -> (report: MediaFlowReport, samples: [FlowSample]) {
        let none = LinkModel<SimulatedPacket>.Statistics()
        return (recording.report(link: none, keyFrameCount: encoder.keyFrameCount), recording.flowSamples)
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
        case .keyFrameRequest: encoder.requestKeyFrame()
        case .contentChange(let factor): encoder.contentChanged(factor: factor)
        case .feedbackLost(let isLost): isFeedbackLost = isLost
        case .sending(let isSending): setSending(isSending)
        case .applicationLimit(let limit): applicationLimit = limit
        }
    }

    private mutating func setSending(_ isSending: Bool) {
        self.isSending = isSending
        // A probe must not wait for padding that is not made.
        pacer.canPad = isSending && parameters.canPad
    }

    mutating func wake(_ network: SimulatedNetwork) {
        let now = network.now
        sendFeedback(network)
        if hasFeedback || now >= decision.nextWakeUp {
            hasFeedback = false
            advanceController(now: now)
        }
        sendPackets(network)
        var next = decision.nextWakeUp
        if let time = pacer.nextSendTime(now: now) { next = min(next, time) }
        network.wake(flow: number, at: min(next, nextFeedbackTime))
    }

    mutating func receive(_ packet: SimulatedPacket, _ network: SimulatedNetwork) {
        switch packet.direction {
        case .forward:
            receiveMedia(packet, now: network.now)
            network.wake(flow: number, at: nextFeedbackTime)
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

    // MARK: Sender

    private mutating func encodeFrame(now: MonotonicInstant) {
        guard isSending else { return }
        guard pacer.queueDelay(now: now) < decision.frameTimeout ?? parameters.maximumPacerDelay else {
            recording.frameSkipped(now: now)
            return
        }
        var target = decision.targetBitRate
        if let audio = parameters.audio { target = target - audio }
        if let applicationLimit { target = min(target, applicationLimit) }
        let size = encoder.nextFrame(target: target)
        let largest = max(parameters.packetSize.bytes, 1)
        // Packets of one frame are of about the same size, as a packetizer makes them.
        let count = (size.bytes + largest - 1) / largest
        let frame = recording.frameEncoded(packetCount: count, now: now)
        var rest = size.bytes
        for index in 0..<count {
            let part = rest / (count - index)
            rest -= part
            let packet = Outgoing(size: DataSize(bytes: part), frame: frame, isLastOfFrame: index == count - 1)
            pacer.enqueue(packet, size: packet.size, priority: .video, now: now)
        }
    }

    private mutating func sendAudio(now: MonotonicInstant) {
        guard isSending, let rate = parameters.audio else { return }
        let size = rate.dataSize(over: Self.audioInterval)
        pacer.enqueue(Outgoing(size: size, frame: Outgoing.audio), size: size, priority: .audio, now: now)
    }

    private mutating func sendPackets(_ network: SimulatedNetwork) {
        let now = network.now
        while true {
            while let (packet, cluster) = pacer.dequeue(now: now) { send(packet, probeClusterID: cluster, network) }
            let padding = pacer.paddingNeeded(now: now)
            guard isSending, padding > .zero else { break }
            let size = DataSize(bytes: min(max(padding.bytes, 200), parameters.packetSize.bytes))
            pacer.enqueue(Outgoing(size: size, frame: Outgoing.padding), size: size, priority: .padding, now: now)
        }
    }

    private mutating func send(_ packet: Outgoing, probeClusterID: Int?, _ network: SimulatedNetwork) {
        let now = network.now
        let (_, sent) = adapter.packetSent(size: packet.size, probeClusterID: probeClusterID, now: now)
        controller.packetSent(sent, now: now)
        updateHold()
        recording.packetSent(size: packet.size, isPadding: packet.frame == Outgoing.padding, now: now)
        var detail = Int64(packet.frame) << 1
        if packet.isLastOfFrame { detail |= 1 }
        network.send(
            SimulatedPacket(
                flow: number, direction: .forward, size: packet.size, ecn: parameters.ecn, sendTime: now,
                sequence: sent.transportSequence, detail: detail))
        // A first packet may start probes.
        if sent.transportSequence == 0 { advanceController(now: now) }
    }

    private mutating func receiveFeedback(_ packet: SimulatedPacket, now: MonotonicInstant) {
        guard let message = messages.take(packet.detail) else { return }
        hasFeedback = true
        switch message {
        case .transportWide(let feedback):
            if let report = adapter.handle(feedback, now: now) { controller.feedbackReceived(report, now: now) }
        case .congestionControl(let feedback):
            let report = adapter.handle(feedback, now: now) { _, sequence in sequence }
            if let report { controller.feedbackReceived(report, now: now) }
        case .receiverReport(let fractionLost, let newestSent, let held):
            controller.receiverReportReceived(
                fractionLost: fractionLost, roundTripTime: now - newestSent - held, now: now)
        }
    }

    private mutating func advanceController(now: MonotonicInstant) {
        controller.senderQueueChanged(pacer.queuedSize, now: now)
        decision = controller.advance(now: now)
        apply(decision, now: now)
    }

    private mutating func apply(_ decision: ControlDecision, now: MonotonicInstant) {
        pacer.setRates(pacing: decision.pacingRate, now: now)
        updateHold()
        if let interval = decision.feedbackInterval {
            recorder.interval = interval
            congestionRecorder.interval = interval
        }
        for cluster in decision.newProbeClusters { pacer.addProbe(cluster, now: now) }
    }

    /// Packets wait while the window is full.
    private mutating func updateHold() {
        pacer.isHeld = decision.congestionWindow.map { adapter.dataInFlight >= $0 } ?? false
    }

    // MARK: Receiver

    private func receiverTime(_ now: MonotonicInstant) -> MonotonicInstant {
        let time = now + receiverClockOffset
        guard parameters.receiverClockDrift != 0 else { return time }
        return time + .nanoseconds(Int64(Double(now.nanoseconds) * parameters.receiverClockDrift / 1e6))
    }

    /// When the receiver's clock shows a time.
    private func instant(ofReceiverTime time: MonotonicInstant) -> MonotonicInstant {
        guard time < .distantFuture else { return .distantFuture }
        let elapsed = time - receiverClockOffset
        guard parameters.receiverClockDrift != 0 else { return elapsed }
        // Rather late than before it shows it.
        let nanoseconds = Double(elapsed.nanoseconds) / (1 + parameters.receiverClockDrift / 1e6)
        return MonotonicInstant(nanoseconds: Int64(nanoseconds) + 1000)
    }

    private var nextFeedbackTime: MonotonicInstant {
        switch parameters.feedback {
        case .transportWide: instant(ofReceiverTime: recorder.nextFeedbackTime)
        case .congestionControl: instant(ofReceiverTime: congestionRecorder.nextFeedbackTime)
        case .receiverReports: .distantFuture
        }
    }

    private mutating func receiveMedia(_ packet: SimulatedPacket, now: MonotonicInstant) {
        let frame = Int(packet.detail >> 1)
        recording.packetReceived(
            size: packet.size, isMedia: frame != Outgoing.padding, frame: frame, sendTime: packet.sendTime,
            queueingDelay: packet.queueingDelay, isMarked: packet.ecn == .congestionExperienced, now: now)
        let sequence = UInt16(truncatingIfNeeded: packet.sequence)
        loss.received(sequence, sendTime: packet.sendTime, now: now)
        switch parameters.feedback {
        case .transportWide: recorder.received(transportSequence: sequence, now: receiverTime(now))
        case .congestionControl:
            congestionRecorder.received(
                sequence: sequence, ecn: packet.ecn, isLastOfFrame: packet.detail & 1 == 1, now: receiverTime(now))
        case .receiverReports: break
        }
    }

    private mutating func sendFeedback(_ network: SimulatedNetwork) {
        let receiverNow = receiverTime(network.now)
        switch parameters.feedback {
        case .transportWide:
            guard recorder.feedbackDue(now: receiverNow) else { return }
            for feedback in recorder.makeFeedback(mediaSSRC: 2, now: receiverNow) {
                let size = DataSize(bytes: 40 + 2 * feedback.packets.count)
                sendFeedback(.transportWide(feedback), size: size, network)
            }
        case .congestionControl:
            guard congestionRecorder.feedbackDue(now: receiverNow) else { return }
            guard let feedback = congestionRecorder.makeFeedback(now: receiverNow) else { return }
            let count = feedback.streams.reduce(0) { $0 + $1.packets.count }
            sendFeedback(.congestionControl(feedback), size: DataSize(bytes: 48 + 2 * count), network)
        case .receiverReports: break
        }
    }

    private mutating func sendReceiverReport(_ network: SimulatedNetwork) {
        guard let report = loss.makeReport(now: network.now) else { return }
        sendFeedback(
            .receiverReport(
                fractionLost: report.fractionLost, newestSent: report.newestSent, held: report.held),
            size: DataSize(bytes: 80), network)
    }

    private mutating func sendFeedback(_ message: FeedbackMessage, size: DataSize, _ network: SimulatedNetwork) {
        guard !isFeedbackLost else { return }
        recording.feedbackSent(size: size)
        network.send(
            SimulatedPacket(
                flow: number, direction: .backward, size: size, sendTime: network.now, detail: messages.put(message)))
    }
}
