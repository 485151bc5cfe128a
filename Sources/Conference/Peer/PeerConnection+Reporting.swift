import MediaCore
import NIOCore
import RTP
import RateControl
import SecureTransport

extension PeerConnection {
    /// Sends what the receivers have to say now: missing packets, lost pictures, arrival times.
    func sendDueFeedback(now: MonotonicInstant) {
        if let line = videoLine, let ssrc = videoReceiver?.ssrc {
            let local = lines[line].negotiated.localSSRC
            if let missing = videoReceiver?.nacksDue(now: now), !missing.isEmpty {
                sendControl(
                    [.genericNACK(GenericNACK(senderSSRC: local, mediaSSRC: ssrc, sequenceNumbers: missing))],
                    line: line, now: now)
            }
            let roundTripTime = self.roundTripTime ?? .milliseconds(100)
            if videoReceiver?.takeKeyFrameRequest(roundTripTime: roundTripTime, now: now) == true {
                sendControl([keyFrameRequest(line: line, mediaSSRC: ssrc)], line: line, now: now)
            }
        }
        sendTransportFeedback(now: now)
    }

    private func keyFrameRequest(line: Int, mediaSSRC: UInt32) -> RTCPPacket {
        let media = lines[line].negotiated
        guard !media.feedback.pli else {
            return .pictureLossIndication(
                PictureLossIndication(senderSSRC: media.localSSRC, mediaSSRC: mediaSSRC))
        }
        fullIntraSequence &+= 1
        return .fullIntraRequest(
            FullIntraRequest(
                senderSSRC: media.localSSRC,
                entries: [FullIntraRequest.Entry(ssrc: mediaSSRC, commandSequence: fullIntraSequence)]))
    }

    private func sendTransportFeedback(now: MonotonicInstant) {
        guard feedbackRecorder?.feedbackDue(now: now) == true,
            let line = videoReceiver != nil ? videoLine : audioLine,
            let mediaSSRC = videoReceiver?.ssrc ?? audioReceiver?.ssrc
        else { return }
        for feedback in feedbackRecorder?.makeFeedback(mediaSSRC: mediaSSRC, now: now) ?? [] {
            sendControl([.transportFeedback(feedback)], line: line, now: now)
        }
    }

    /// A sender or receiver report for every line.
    func sendReports(now: MonotonicInstant) {
        for line in lines.indices { sendControl([], line: line, now: now) }
    }

    /// Sends `packets`: alone where reduced-size RTCP was negotiated (RFC 5506), else behind the report and the source
    /// description with which a compound packet begins (RFC 3550 6.1). Without `packets` it is the regular report.
    func sendControl(_ packets: [RTCPPacket], line: Int, now: MonotonicInstant) {
        guard let destination = lines[line].rtcpDestination else { return }
        let description = SourceDescription(
            chunks: [SourceDescription.Chunk(ssrc: lines[line].negotiated.localSSRC, cname: session.cname)])
        let isReduced = lines[line].negotiated.reducedSizeRTCP && !packets.isEmpty
        let head = isReduced ? [] : [report(line: line, now: now), .sourceDescription(description)]
        var datagram = RTCPPacket.encode(head + packets)
        do {
            try lines[line].outbound.protect(rtcp: &datagram)
        } catch {
            counters.protectFailures &+= 1
            return
        }
        sendMeter.add(DataSize(bytes: datagram.readableBytes), now: now)
        controlDatagrams.append(Transmit(datagram: datagram, destination: destination))
    }

    private func report(line: Int, now: MonotonicInstant) -> RTCPPacket {
        let ssrc = lines[line].negotiated.localSSRC
        let isVideo = line == videoLine
        let block = isVideo ? videoReceiver?.reportBlock(now: now) : audioReceiver?.reportBlock(now: now)
        let reports = block.map { [$0] } ?? []
        let statistics = isVideo ? videoSender?.statistics : audioSender?.statistics
        if let report = statistics?.makeSenderReport(ssrc: ssrc, reports: reports, wallClock: wallClock, now: now) {
            return .senderReport(report)
        }
        return .receiverReport(ReceiverReport(ssrc: ssrc, reports: reports))
    }
}
