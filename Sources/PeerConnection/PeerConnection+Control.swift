import CongestionControl
package import MediaCore
import NIOCore
package import RTP
import SDP
import SecureTransport

extension PeerConnection {
    /// Takes the RTCP packets of a datagram that authenticated on a line, or on those of its bundle.
    func handle(_ packets: [RTCPPacket], line: Int, now: MonotonicInstant) {
        var news = ControllerNews()
        for packet in packets { handle(packet, line: line, news: &news, now: now) }
        for (line, block) in news.reports { handle(block, on: line, now: now) }
        if let estimate = news.remoteEstimate { controller.remoteEstimateReceived(estimate, now: now) }
        if !news.requestedLines.isEmpty { confirmRequests(lines: news.requestedLines, now: now) }
        let isReportedOn = news.reports.contains { lines[$0.line].videoSender != nil }
        guard isReportedOn || news.hasFeedback || news.remoteEstimate != nil || !news.requestedLines.isEmpty else {
            return
        }
        advanceController(now: now)
    }

    private func handle(_ packet: RTCPPacket, line: Int, news: inout ControllerNews, now: MonotonicInstant) {
        switch packet {
        case .senderReport(let report):
            for line in lines.indices {
                lines[line].videoReceiver?.senderReportReceived(report, now: now)
                lines[line].audioReceiver?.senderReportReceived(report, now: now)
            }
            record(report.reports, in: &news)
        case .receiverReport(let report):
            record(report.reports, in: &news)
        case .genericNACK(let nack):
            repair(nack, now: now)
        case .pictureLossIndication(let indication):
            pictureLossIndicated(ssrc: indication.mediaSSRC, now: now)
        case .referencePictureSelection(let indication):
            pictureAcknowledged(indication)
        case .fullIntraRequest(let request):
            for entry in request.entries { fullIntraRequested(entry, now: now) }
        case .transportFeedback(let feedback):
            guard lines.contains(where: \.negotiated.feedback.transportCC) else { return }
            arrivalsReported(feedbackAdapter.handle(feedback, now: now), news: &news, now: now)
        case .congestionControlFeedback(let feedback):
            guard lines.contains(where: \.negotiated.feedback.congestionControl) else { return }
            let report = feedbackAdapter.handle(feedback, now: now) { ssrc, sequence in
                sentPacketNumbers.transportSequence(ssrc: ssrc, sequence: sequence)
            }
            arrivalsReported(report, news: &news, now: now)
        case .receiverEstimatedMaximumBitrate(let estimate):
            news.remoteEstimate = estimate.bitRate
        case .maximumBitRateRequest(let request):
            requested(request, news: &news)
        case .maximumBitRateNotification(let notification):
            notified(notification)
        case .bye(let goodbye):
            handle(goodbye, line: line)
        case .sourceDescription, .other:
            break
        }
    }

    /// Takes what feedback says of the packets' arrivals.
    private func arrivalsReported(_ report: TransportFeedbackReport?, news: inout ControllerNews, now: MonotonicInstant)
    {
        guard let report else { return }
        counters.transportFeedbackReceived &+= 1
        controller.feedbackReceived(report, now: now)
        recordLosses(report, now: now)
        if let roundTripTime = feedbackAdapter.roundTripTime { setRoundTripTime(roundTripTime) }
        news.hasFeedback = true
    }

    private func record(_ reports: [ReportBlock], in news: inout ControllerNews) {
        for block in reports {
            for line in lines.indices {
                lines[line].reported(ssrc: block.ssrc)
                if lines[line].videoSender?.ssrc == block.ssrc || lines[line].audioSender?.ssrc == block.ssrc {
                    news.add(block, line: line)
                }
            }
        }
    }

    /// Takes the report on the stream that a line sends.
    private func handle(_ block: ReportBlock, on line: Int, now: MonotonicInstant) {
        let ntpNow = wallClock.ntpTime(at: now)
        lines[line].audioSender?.statistics.reportReceived(block, ntpNow: ntpNow)
        guard lines[line].videoSender != nil else {
            updateRepair(now: now)
            return
        }
        lines[line].videoSender?.reportReceived(block, ntpNow: ntpNow)
        recordLosses(reportedOn: line, now: now)
        guard let statistics = lines[line].videoSender?.statistics else { return }
        if let roundTripTime = statistics.roundTripTime { setRoundTripTime(roundTripTime) }
        controller.receiverReportReceived(
            fractionLost: statistics.fractionLost, roundTripTime: statistics.roundTripTime, now: now)
    }

    private func setRoundTripTime(_ roundTripTime: Duration) {
        for line in lines.indices { lines[line].videoReceiver?.setRoundTripTime(roundTripTime) }
    }

    private func repair(_ nack: GenericNACK, now: MonotonicInstant) {
        guard let line = lines.firstIndex(where: { $0.videoSender?.ssrc == nack.mediaSSRC }) else { return }
        let roundTripTime = self.roundTripTime ?? .milliseconds(50)
        for sequenceNumber in nack.sequenceNumbers {
            counters.negativeAcknowledgementsReceived &+= 1
            // What the path cannot carry in time is not repeated on top.
            guard pacer.expectedDrainTime < LatencyBudget.beforeFrame else { continue }
            let repair = lines[line].videoSender?.repair(sequenceNumber, roundTripTime: roundTripTime, now: now)
            let (packet, size): (OutgoingPacket, DataSize)
            switch repair {
            case .retransmission(let original):
                packet = .retransmission(original, line: line)
                size = DataSize(bytes: original.payload.readableBytes) + PeerConfiguration.packetOverhead
            case .repetition(let datagram):
                packet = .repetition(datagram, line: line)
                size = DataSize(bytes: datagram.readableBytes)
            case nil: continue
            }
            lastRetransmission = now
            budget.spend(size, now: now)
            pacer.enqueue(packet, size: size, priority: .retransmission, now: now)
        }
    }

    private func pictureLossIndicated(ssrc: UInt32, now: MonotonicInstant) {
        for line in lines.indices where lines[line].videoSender?.ssrc == ssrc {
            guard lines[line].videoSender?.pictureLossIndicated(now: now) == true else { continue }
            let media = lines[line].negotiated
            events.append(media.feedback.rpsi ? .pictureLost(media.content) : .keyframeRequested(media.content))
        }
    }

    private func pictureAcknowledged(_ indication: ReferencePictureSelectionIndication) {
        for line in lines.indices where lines[line].videoSender?.ssrc == indication.mediaSSRC {
            guard let time = lines[line].videoSender?.sentPictures?.time(of: indication.timestamp) else { continue }
            events.append(.pictureAcknowledged(lines[line].negotiated.content, captureTime: time))
        }
    }

    /// Whether the remote side tells which pictures it has, and goes on with those that refer to them alone.
    package var acknowledgesPictures: Bool {
        (videoLine ?? line(.screenShare)).map { lines[$0].negotiated.feedback.rpsi } ?? false
    }

    private func fullIntraRequested(_ entry: FullIntraRequest.Entry, now: MonotonicInstant) {
        for line in lines.indices where lines[line].videoSender?.ssrc == entry.ssrc {
            guard
                lines[line].videoSender?.fullIntraRequested(commandSequence: entry.commandSequence, now: now) == true
            else { continue }
            events.append(.keyframeRequested(lines[line].negotiated.content))
        }
    }

    /// A goodbye ends the streams that it names. Where a path of its own says when the endpoint leaves, that is all: a
    /// browser ends the stream of a camera that is turned off. Elsewhere an endpoint whose camera or microphone says
    /// goodbye is leaving.
    private func handle(_ goodbye: Goodbye, line: Int) {
        let ended = lines.filter { line in goodbye.ssrcs.contains { line.knownSSRCs.contains($0) } }.map(\.negotiated)
        guard session.transport != nil || ended.allSatisfy({ $0.content == .screenShare }) else {
            events.append(.goodbye)
            return
        }
        for media in ended where media.kind == .video { events.append(.videoEnded(media.content)) }
    }
}
