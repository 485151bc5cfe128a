import CongestionControl
import H264
import MediaCore
import RTP

extension MediaFlow {
    /// Requests for keyframes closer together than this are one: the keyframe for the first is still on its way.
    private static let keyframeRequestWindow = Duration.milliseconds(300)
    /// What is assumed before feedback tells.
    private static let initialRoundTripTime = Duration.milliseconds(50)

    // MARK: Frames

    mutating func encodeFrame(now: MonotonicInstant) {
        guard isSending, codecFailure == nil else { return }
        guard hasRoomForFrame(now: now) else {
            recording.frameSkipped(now: now)
            useCodec { codec throws(PictureCodecError) in try codec.skipPicture() }
            return
        }
        if codec == nil, sentStream == nil {
            enqueueSizes(of: encoder.nextFrame(target: videoTarget()), now: now)
        } else {
            enqueuePackets(now: now)
        }
    }

    private mutating func hasRoomForFrame(now: MonotonicInstant) -> Bool {
        guard decision.videoPause == nil else { return false }
        guard pacer.queueDelay(now: now) < frameTimeout, sentStream == nil || budget.hasRoom(now: now) else {
            return false
        }
        guard let interval = decision.frameDropInterval else { return true }
        dropCounter += 1
        return dropCounter % max(interval, 1) != 0
    }

    /// How long packets may wait before frames are skipped.
    private var frameTimeout: Duration { decision.frameTimeout ?? parameters.maximumPacerDelay }

    /// What is left of the target for frames.
    private mutating func videoTarget() -> BitRate {
        var target = decision.targetBitRate
        if let audio = parameters.audio { target = target - audio }
        if sentStream != nil {
            let allocation = allocator.allocate(target: target, fractionLost: fractionLost)
            // The model follows every target, where a real encoder is not set anew for small changes.
            target = codec == nil ? target - allocation.retransmission : allocation.video
        }
        if let applicationLimit { target = min(target, applicationLimit) }
        return target
    }

    private mutating func enqueueSizes(of size: DataSize, now: MonotonicInstant) {
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

    private mutating func enqueuePackets(now: MonotonicInstant) {
        let frame = recording.nextFrame
        guard let units = makeFrame(frame, now: now),
            let contents = sentStream?.packetize(units, frame: frame), !contents.isEmpty
        else {
            recording.frameSkipped(now: now)
            return
        }
        _ = recording.frameEncoded(packetCount: contents.count, now: now)
        var total = DataSize.zero
        for content in contents {
            let packet = Outgoing(
                size: content.size, frame: frame, isLastOfFrame: content.isLastOfFrame, content: content)
            total += packet.size
            pacer.enqueue(packet, size: packet.size, priority: .video, now: now)
        }
        budget.spend(frame: total, now: now)
    }

    /// The next frame's NAL units; nil where the encoder leaves it out.
    private mutating func makeFrame(_ frame: Int, now: MonotonicInstant) -> [NALUnit]? {
        let target = videoTarget()
        guard let codec else { return modelFrame.slices(encoder.nextFrame(target: target)) }
        defer { isKeyframeRequested = false }
        do throws(PictureCodecError) {
            return try codec.encode(
                frame: frame, at: now - .zero, target: target, isKeyframe: isKeyframeRequested)
        } catch {
            codecFailure = error
            return nil
        }
    }

    /// Uses the codec, if there is one, and takes note of its failure.
    mutating func useCodec(_ body: (any PictureCodec) throws(PictureCodecError) -> Void) {
        guard let codec, codecFailure == nil else { return }
        do throws(PictureCodecError) {
            try body(codec)
        } catch {
            codecFailure = error
        }
    }

    mutating func sendAudio(now: MonotonicInstant) {
        guard isSending, let rate = parameters.audio else { return }
        let size = rate.dataSize(over: Self.audioInterval)
        pacer.enqueue(Outgoing(size: size, frame: Outgoing.audio), size: size, priority: .audio, now: now)
    }

    // MARK: Packets

    mutating func sendPackets(_ network: SimulatedNetwork) {
        let now = network.now
        while true {
            while let (packet, cluster) = pacer.dequeue(now: now) { send(packet, probeClusterID: cluster, network) }
            let padding = pacer.paddingNeeded(now: now)
            guard isSending, padding > .zero else { break }
            let size = DataSize(bytes: min(max(padding.bytes, 200), parameters.packetSize.bytes))
            // It borrows the newest frame's timestamp.
            let content = sentStream?.makePadding(frame: max(recording.nextFrame - 1, 0))
            let packet = Outgoing(size: size, frame: Outgoing.padding, content: content)
            pacer.enqueue(packet, size: size, priority: .padding, now: now)
        }
    }

    private mutating func send(_ packet: Outgoing, probeClusterID: Int?, _ network: SimulatedNetwork) {
        let now = network.now
        var detail = Int64(packet.frame) << 1
        if packet.isLastOfFrame { detail |= 1 }
        var outgoing = SimulatedPacket(
            flow: number, direction: .forward, size: packet.size, ecn: parameters.ecn, sendTime: now, detail: detail)
        if let sequence = packet.repeatedSequence {
            // The identical bytes with the number that they had: as in the relay, the controller is told nothing.
            outgoing.sequence = sequence
            recording.packetRepeated(size: packet.size, now: now)
            if let content = packet.content { contents.put(content, number: sequence) }
            network.send(outgoing)
            return
        }
        let (_, sent) = adapter.packetSent(size: packet.size, probeClusterID: probeClusterID, now: now)
        controller.packetSent(sent, now: now)
        updateHold()
        recording.packetSent(size: packet.size, isPadding: packet.frame == Outgoing.padding, now: now)
        outgoing.sequence = sent.transportSequence
        if let content = packet.content {
            if parameters.repair == .nack {
                sentStream?.sent(content, transportSequence: sent.transportSequence, now: now)
            }
            contents.put(content, number: sent.transportSequence)
        }
        network.send(outgoing)
        // A first packet may start probes.
        if sent.transportSequence == 0 { advanceController(now: now) }
    }

    private mutating func sendAgain(_ missing: GenericNACK, now: MonotonicInstant) {
        let roundTripTime = adapter.roundTripTime ?? Self.initialRoundTripTime
        for sequenceNumber in missing.sequenceNumbers {
            // What the path cannot carry in time is not repeated on top.
            guard pacer.expectedDrainTime < frameTimeout else { continue }
            guard
                let (content, sequence) = sentStream?.repeated(
                    sequenceNumber, roundTripTime: roundTripTime, now: now)
            else { continue }
            budget.spend(content.size, now: now)
            let packet = Outgoing(
                size: content.size, frame: content.frame, content: content, repeatedSequence: sequence)
            pacer.enqueue(packet, size: packet.size, priority: .retransmission, now: now)
        }
    }

    // MARK: Control

    mutating func receiveFeedback(_ packet: SimulatedPacket, now: MonotonicInstant) {
        guard let message = messages.take(packet.detail) else { return }
        switch message {
        case .transportWide(let feedback):
            hasFeedback = true
            if let report = adapter.handle(feedback, now: now) { controller.feedbackReceived(report, now: now) }
        case .congestionControl(let feedback):
            hasFeedback = true
            let report = adapter.handle(feedback, now: now) { _, sequence in sequence }
            if let report { controller.feedbackReceived(report, now: now) }
        case .receiverReport(let fractionLost, let newestSent, let held):
            hasFeedback = true
            self.fractionLost = fractionLost
            controller.receiverReportReceived(
                fractionLost: fractionLost, roundTripTime: now - newestSent - held, now: now)
        case .missing(let missing): sendAgain(missing, now: now)
        case .pictureLoss:
            if let last = lastKeyframeRequest, now - last < Self.keyframeRequestWindow { return }
            lastKeyframeRequest = now
            requestKeyframe()
        }
    }

    mutating func advanceController(now: MonotonicInstant) {
        controller.senderQueueChanged(pacer.queuedSize, now: now)
        decision = controller.advance(now: now)
        apply(decision, now: now)
    }

    mutating func apply(_ decision: ControlDecision, now: MonotonicInstant) {
        pacer.setRates(
            pacing: decision.pacingRate, burst: decision.pacingBurst, padding: decision.paddingRate, now: now)
        updateHold()
        if sentStream != nil {
            let sustained = decision.averageBitRate - (parameters.audio ?? .zero)
            budget.setRate(max(sustained, parameters.encoder.minimum), now: now)
        }
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
}
