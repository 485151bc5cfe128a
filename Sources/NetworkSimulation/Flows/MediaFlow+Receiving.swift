import CongestionControl
import H264
import MediaCore
import NIOCore
import RTP

extension MediaFlow {
    // MARK: The receiver's clock

    private func receiverTime(_ now: MonotonicInstant) -> MonotonicInstant {
        let time = now + receiverClockOffset
        guard parameters.receiverClockDrift != 0 else { return time }
        return time + .nanoseconds(Int64(clamping: Double(now.nanoseconds) * parameters.receiverClockDrift / 1e6))
    }

    /// When the receiver's clock shows a time.
    private func instant(ofReceiverTime time: MonotonicInstant) -> MonotonicInstant {
        guard time < .distantFuture else { return .distantFuture }
        let elapsed = time - receiverClockOffset
        guard parameters.receiverClockDrift != 0 else { return elapsed }
        // Rather late than before it shows it.
        let nanoseconds = Double(elapsed.nanoseconds) / (1 + parameters.receiverClockDrift / 1e6)
        return MonotonicInstant(nanoseconds: Int64(clamping: nanoseconds)) + .microseconds(1)
    }

    /// When the receiver has something to say or to give up.
    var nextReceiverWakeUp: MonotonicInstant {
        let feedback =
            switch parameters.feedback {
            case .transportWide: instant(ofReceiverTime: recorder.nextFeedbackTime)
            case .congestionControl: instant(ofReceiverTime: congestionRecorder.nextFeedbackTime)
            case .receiverReports: MonotonicInstant.distantFuture
            }
        return min(feedback, receivedStream?.nextDeadline ?? .distantFuture)
    }

    // MARK: Media

    mutating func receiveMedia(_ packet: SimulatedPacket, now: MonotonicInstant) {
        var frame = Int(packet.detail >> 1)
        var isLastOfFrame = packet.detail & 1 == 1
        var isMedia = frame != Outgoing.padding
        if let stream = receivedStream, frame != Outgoing.audio {
            // What came twice is here no more the second time.
            isMedia = false
            if let content = contents.take(packet.sequence) {
                let isNew = stream.insert(content.received, now: now)
                isMedia = isNew && content.payload.readableBytes > 0
                frame = content.frame
                isLastOfFrame = content.isLastOfFrame
            }
        }
        recording.packetReceived(
            size: packet.size, isMedia: isMedia, frame: frame, sendTime: packet.sendTime,
            queueingDelay: packet.queueingDelay, isMarked: packet.ecn == .congestionExperienced, now: now)
        deliver(now: now)
        let sequence = UInt16(truncatingIfNeeded: packet.sequence)
        loss.received(sequence, sendTime: packet.sendTime, now: now)
        switch parameters.feedback {
        case .transportWide: recorder.received(transportSequence: sequence, now: receiverTime(now))
        case .congestionControl:
            congestionRecorder.received(
                sequence: sequence, ecn: packet.ecn, isLastOfFrame: isLastOfFrame, now: receiverTime(now))
        case .receiverReports: break
        }
    }

    /// Takes the frames that are ready out of the jitter buffer.
    mutating func deliver(now: MonotonicInstant) {
        guard let stream = receivedStream else { return }
        stream.deliver(now: now) { unit, isUsable in
            guard isUsable else { return }
            let frame = Int(unit.rtpTimestamp)
            recording.frameDelivered(frame, now: now)
            useCodec { codec throws(PictureCodecError) in try codec.receive(unit, frame: frame) }
        }
    }

    // MARK: Feedback

    mutating func sendFeedback(_ network: SimulatedNetwork) {
        sendRepairRequests(network)
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

    private mutating func sendRepairRequests(_ network: SimulatedNetwork) {
        guard let stream = receivedStream else { return }
        let missing = parameters.repair == .nack ? stream.nacksDue(now: network.now) : []
        if !missing.isEmpty {
            let nack = GenericNACK(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: missing)
            sendFeedback(.missing(nack), size: DataSize(bytes: 40 + 4 * missing.count), network)
        }
        if stream.takeKeyframeRequest(now: network.now) {
            sendFeedback(.pictureLoss, size: DataSize(bytes: 40), network)
        }
    }

    mutating func sendReceiverReport(_ network: SimulatedNetwork) {
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
