import CongestionControl
import MediaCore
import RTP
import SDP

extension PeerConnection {
    /// Takes the RTCP packets of a datagram that authenticated on a line, or on the lines of its bundle.
    func handle(_ packets: [RTCPPacket], line: MediaLine, now: MonotonicInstant) {
        requests.refill(now: now)
        var news = DatagramNews(requests: requests.tokens)
        for packet in packets { handle(packet, line: line, news: &news, now: now) }
        requests.charge(Double(news.requestCount))
        for line in lines where line.forgetRequests(of: [], now: now) { news.addRequest(line: line) }
        for (line, block) in news.reports { handle(block, on: line, now: now) }
        if let estimate = news.remoteEstimate { sending.received(estimate: estimate, now: now) }
        if !news.requestedLines.isEmpty { confirmRequests(on: news.requestedLines, now: now) }
        if news.isDecisive { advanceController(now: now) }
        if !news.goodbyes.isEmpty { handle(Goodbye(ssrcs: news.goodbyes), now: now) }
    }

    private func handle(_ packet: RTCPPacket, line: MediaLine, news: inout DatagramNews, now: MonotonicInstant) {
        switch packet {
        case .senderReport(let report):
            for line in lines {
                line.videoReceiver?.senderReportReceived(report, now: now)
                line.audioReceiver?.senderReportReceived(report, now: now)
                line.heard(report.ssrc, now: now)
            }
            record(report.reports, in: &news)
        case .receiverReport(let report):
            for line in lines { line.heard(report.ssrc, now: now) }
            record(report.reports, in: &news)
        case .genericNACK(let nack):
            resend(news.takeRequests(nack.sequenceNumbers), of: nack.mediaSSRC, now: now)
        case .pictureLossIndication(let indication):
            pictureLossIndicated(ssrc: indication.mediaSSRC, now: now)
        case .referencePictureSelection(let indication):
            pictureAcknowledged(indication)
        case .fullIntraRequest(let request):
            for entry in request.entries { fullIntraRequested(entry, now: now) }
        case .transportFeedback(let packet):
            guard lines.contains(where: { $0.negotiated.feedback.transportCC }) else { return }
            arrivalsReported(sending.received(packet, now: now), news: &news, now: now)
        case .congestionControlFeedback(let packet):
            guard lines.contains(where: { $0.negotiated.feedback.congestionControl }) else { return }
            arrivalsReported(sending.received(packet, now: now), news: &news, now: now)
        case .receiverEstimatedMaximumBitrate(let estimate):
            news.remoteEstimate = estimate.bitRate
        case .maximumBitRateRequest(let request):
            for line in lines where line.requested(request, now: now) { news.addRequest(line: line) }
        case .maximumBitRateNotification(let notification):
            for line in lines { line.notified(notification) }
        case .bye(let goodbye):
            for line in lines where line.forgetRequests(of: goodbye.ssrcs, now: now) { news.addRequest(line: line) }
            news.goodbyes += goodbye.ssrcs
        case .sourceDescription, .other:
            break
        }
    }

    /// Takes the arrivals in feedback.
    private func arrivalsReported(_ report: TransportFeedbackReport?, news: inout DatagramNews, now: MonotonicInstant) {
        guard let report else { return }
        repair.record(
            report, roundTripTime: sending.roundTripTime, isCongested: sending.isCongested, now: now)
        updateRepair(now: now)
        if let roundTripTime = sending.roundTripTime { setRoundTripTime(roundTripTime) }
        news.hasFeedback = true
    }

    private func record(_ reports: [ReportBlock], in news: inout DatagramNews) {
        for block in reports {
            for line in lines {
                line.reported(ssrc: block.ssrc)
                if line.videoSender?.ssrc == block.ssrc || line.audioSender?.ssrc == block.ssrc {
                    news.add(block, line: line)
                }
            }
        }
    }

    /// Takes the report on the stream that a line sends.
    private func handle(_ block: ReportBlock, on line: MediaLine, now: MonotonicInstant) {
        let ntpNow = control.ntpTime(at: now)
        line.audioSender?.reportReceived(block, ntpNow: ntpNow)
        guard let sender = line.videoSender else {
            updateRepair(now: now)
            return
        }
        sender.reportReceived(block, ntpNow: ntpNow)
        if !sending.hasFeedbackOnPackets {
            repair.record(reportOn: sender, isCongested: sending.isCongested, now: now)
            updateRepair(now: now)
        }
        if let roundTripTime = sender.statistics.roundTripTime { setRoundTripTime(roundTripTime) }
        sending.reported(sender.statistics, now: now)
    }

    private func setRoundTripTime(_ roundTripTime: Duration) {
        for line in lines { line.videoReceiver?.setRoundTripTime(roundTripTime) }
    }

    private func updateRepair(now: MonotonicInstant) {
        repair.update(lines, hasFeedback: sending.hasFeedbackOnPackets, now: now)
    }

    private func resend(_ sequenceNumbers: [UInt16], of ssrc: UInt32, now: MonotonicInstant) {
        guard let line = lines.sendingVideo(ssrc: ssrc) else { return }
        let resends = sending.resend(
            sequenceNumbers, on: line, roundTripTime: roundTripTime ?? .milliseconds(50), now: now)
        if resends.some { repair.resent(now: now) }
        let isLost = line.videoSender?.pictureWasLost(with: sequenceNumbers, isDelayed: !resends.all, now: now)
        if isLost == true { pictureWasLost(on: line) }
    }

    private func pictureLossIndicated(ssrc: UInt32, now: MonotonicInstant) {
        guard let line = lines.sendingVideo(ssrc: ssrc), line.videoSender?.pictureLossIndicated(now: now) == true else {
            return
        }
        pictureWasLost(on: line)
    }

    private func pictureWasLost(on line: MediaLine) {
        let media = line.negotiated
        emit(media.feedback.rpsi ? .pictureLost(media.content) : .keyframeRequested(media.content))
    }

    private func pictureAcknowledged(_ indication: ReferencePictureSelectionIndication) {
        guard let line = lines.sendingVideo(ssrc: indication.mediaSSRC),
            let time = line.videoSender?.sentPictures?.time(of: indication.timestamp)
        else { return }
        emit(.pictureAcknowledged(line.negotiated.content, captureTime: time))
    }

    /// True if the remote side acknowledges pictures, and continues with pictures that refer only to acknowledged ones.
    package var acknowledgesPictures: Bool {
        (lines.mainVideo ?? lines.video(.screenShare))?.negotiated.feedback.rpsi ?? false
    }

    private func fullIntraRequested(_ entry: FullIntraRequest.Entry, now: MonotonicInstant) {
        guard let line = lines.sendingVideo(ssrc: entry.ssrc),
            line.videoSender?.fullIntraRequested(commandSequence: entry.commandSequence, now: now) == true
        else { return }
        emit(.keyframeRequested(line.negotiated.content))
    }

    /// Ends the streams that a datagram's goodbyes name. With ICE nothing else follows, because consent shows whether
    /// the endpoint is there, and a browser ends the stream of a camera that is turned off. Without ICE, an endpoint
    /// whose camera or microphone says goodbye is leaving.
    private func handle(_ goodbye: Goodbye, now: MonotonicInstant) {
        let ended = lines.filter { line in goodbye.ssrcs.contains { endsStream(of: line, $0) } }.map(\.negotiated)
        let staysThere = ended.allSatisfy { $0.content == .screenShare } && !isLast(goodbye, now: now)
        guard session.transport != nil || staysThere else {
            emit(.goodbye)
            return
        }
        for media in ended where media.kind == .video { emit(.videoEnded(media.content)) }
    }

    /// Returns true if an endpoint that sends nothing any more says goodbye for the source of a stream that an offer
    /// has ended. It reports as that source until it leaves. Soon after the offer its goodbye tells of the stream
    /// alone.
    private func isLast(_ goodbye: Goodbye, now: MonotonicInstant) -> Bool {
        now - lastNegotiation >= Self.goodbyePatience && !lines.contains { $0.receives }
            && lines.contains { line in line.endedSSRC.map { goodbye.ssrcs.contains($0) } ?? false }
    }

    private static let goodbyePatience = Duration.seconds(10)

    /// Returns true if the goodbye of a source ends the stream of a line. That of a source which another has replaced
    /// does not, nor that of one whose stream a further offer has ended; before any media comes, each source of the
    /// line counts.
    private func endsStream(of line: MediaLine, _ ssrc: UInt32) -> Bool {
        if let current = line.receivedSSRC { return current == ssrc }
        return line.hears(ssrc) && !lines.contains { $0.receivedSSRC == ssrc || $0.endedSSRC == ssrc }
    }
}
