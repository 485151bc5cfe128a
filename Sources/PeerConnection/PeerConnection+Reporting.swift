import CongestionControl
package import MediaCore
import NIOCore
import RTP
import SDP
import SecureTransport

extension PeerConnection {
    /// Sends what the receivers have to say now: missing packets, lost pictures, arrival times.
    func sendDueFeedback(now: MonotonicInstant) {
        for line in lines.indices {
            guard let receiver = lines[line].videoReceiver, let ssrc = receiver.ssrc else { continue }
            let missing = receiver.nacksDue(now: now)
            if !missing.isEmpty {
                let local = lines[line].negotiated.localSSRC
                sendControl(
                    [.genericNACK(GenericNACK(senderSSRC: local, mediaSSRC: ssrc, sequenceNumbers: missing))],
                    line: line, now: now)
            }
            let roundTripTime = self.roundTripTime ?? .milliseconds(100)
            if receiver.takeKeyframeRequest(roundTripTime: roundTripTime, now: now) {
                sendControl([keyframeRequest(line: line, mediaSSRC: ssrc)], line: line, now: now)
            }
        }
        sendTransportFeedback(now: now)
        sendCongestionControlFeedback(now: now)
    }

    private func keyframeRequest(line: Int, mediaSSRC: UInt32) -> RTCPPacket {
        let media = lines[line].negotiated
        // Where a picture loss indication does not ask for a keyframe, a full intra request does (RFC 5104 4.3.1).
        let asksForIntra =
            media.feedback.rpsi && media.feedback.fir && lines[line].videoReceiver?.needsWholePicture == true
        guard !media.feedback.pli || asksForIntra else {
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
        guard let due = feedbackRecorder?.nextFeedbackTime, due <= now, let (line, mediaSSRC) = feedbackSubject else {
            return
        }
        for feedback in feedbackRecorder?.makeFeedback(mediaSSRC: mediaSSRC, now: now) ?? [] {
            sendArrivals(.transportFeedback(feedback), senderSSRC: feedback.senderSSRC, line: line, now: now)
        }
        feedbackRecorder?.interval = configuration.feedbackTiming.interval(receiving: receiveMeter.rate(now: now))
    }

    private func sendCongestionControlFeedback(now: MonotonicInstant) {
        guard let due = congestionFeedbackRecorder?.nextFeedbackTime, due <= now, let (line, _) = feedbackSubject,
            let feedback = congestionFeedbackRecorder?.makeFeedback(now: now)
        else { return }
        sendArrivals(.congestionControlFeedback(feedback), senderSSRC: feedback.senderSSRC, line: line, now: now)
        congestionFeedbackRecorder?.interval = configuration.feedbackTiming.interval(
            receiving: receiveMeter.rate(now: now))
    }

    private func sendArrivals(_ feedback: RTCPPacket, senderSSRC: UInt32, line: Int, now: MonotonicInstant) {
        var packets = [feedback]
        if let acknowledgement = acknowledgement(line: line, now: now) { packets.append(acknowledgement) }
        // Lines may have contexts of their own under one key. The same SSRC in two of them would use each SRTCP index
        // twice: a replay to the remote side, and a nonce used twice with AES-GCM.
        let sender = lines.firstIndex { $0.negotiated.localSSRC == senderSSRC } ?? line
        sendControl(packets, line: sender, now: now)
    }

    /// Tells the sender of a picture that arrived whole, where it has a use for that.
    private func acknowledgement(line: Int, now: MonotonicInstant) -> RTCPPacket? {
        let media = lines[line].negotiated
        guard media.feedback.rpsi, let receiver = lines[line].videoReceiver, let ssrc = receiver.ssrc,
            let timestamp = receiver.takeAcknowledgement(now: now)
        else { return nil }
        return .referencePictureSelection(
            ReferencePictureSelectionIndication(
                senderSSRC: media.localSSRC, mediaSSRC: ssrc, payloadType: media.payloadType, timestamp: timestamp))
    }

    /// The line on which transport-wide feedback goes, and the source that it names: one that is heard, where there is
    /// one. A sender may begin with probes in a stream of retransmissions, and is told of those too.
    private var feedbackSubject: (line: Int, mediaSSRC: UInt32)? {
        for line in lines.indices {
            if let ssrc = lines[line].videoReceiver?.ssrc { return (line, ssrc) }
        }
        if let audioLine, let ssrc = lines[audioLine].audioReceiver?.ssrc { return (audioLine, ssrc) }
        guard let line = lines.firstIndex(where: \.negotiated.receives) else { return nil }
        return (line, lines[line].negotiated.remoteSSRCs.first ?? 0)
    }

    /// A sender or receiver report for every line, with what is to be told again and again.
    package func sendReports(now: MonotonicInstant) {
        for line in lines.indices { sendControl(limitPackets(line: line), line: line, isRegular: true, now: now) }
    }

    /// Sends `packets`: alone where reduced-size RTCP was negotiated (RFC 5506), else behind the report and the source
    /// description with which a compound packet begins (RFC 3550 6.1).
    ///
    /// - Parameter isRegular: Whether it is the regular report, which is there in any case.
    func sendControl(_ packets: [RTCPPacket], line: Int, isRegular: Bool = false, now: MonotonicInstant) {
        guard let destination = lines[line].rtcpDestination, let keys = lines[line].keys else { return }
        let description = SourceDescription(
            chunks: [SourceDescription.Chunk(ssrc: lines[line].negotiated.localSSRC, cname: session.cname)])
        let isReduced = lines[line].negotiated.reducedSizeRTCP && !isRegular
        let head = isReduced ? [] : [report(line: line, now: now), .sourceDescription(description)]
        var datagram = RTCPPacket.encode(head + packets)
        do {
            try keys.outbound.protect(rtcp: &datagram)
        } catch {
            counters.protectFailures &+= 1
            return
        }
        sendMeter.add(DataSize(bytes: datagram.readableBytes), now: now)
        controlDatagrams.append(Transmit(datagram: datagram, destination: destination))
    }

    private func report(line: Int, now: MonotonicInstant) -> RTCPPacket {
        let ssrc = lines[line].negotiated.localSSRC
        let reports =
            lines[line].videoReceiver?.reportBlocks(now: now)
            ?? lines[line].audioReceiver?.reportBlock(now: now).map { [$0] } ?? []
        let statistics = lines[line].videoSender?.statistics ?? lines[line].audioSender?.statistics
        if lines[line].negotiated.sends,
            let report = statistics?.makeSenderReport(ssrc: ssrc, reports: reports, wallClock: wallClock, now: now)
        {
            return .senderReport(report)
        }
        return .receiverReport(ReceiverReport(ssrc: ssrc, reports: reports))
    }
}
