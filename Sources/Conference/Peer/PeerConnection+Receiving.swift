public import MediaCore
public import NIOCore
import RTP
import RateControl
public import SecureTransport

extension PeerConnection {
    /// Takes a datagram that may be for this session. Never traps, whatever it holds; only a packet that authenticates
    /// changes anything.
    public func receive(
        _ datagram: consuming ByteBuffer, from source: TransportAddress, now: MonotonicInstant
    ) -> ReceiveOutcome {
        guard !isClosed else { return .unknown }
        switch DatagramKind.classify(datagram) {
        case .rtp: return receiveRTP(datagram, from: source, now: now)
        case .rtcp: return receiveRTCP(datagram, from: source, now: now)
        default: return .unknown
        }
    }

    /// Whether an SSRC was announced for this session or has authenticated on it.
    func knows(ssrc: UInt32) -> Bool {
        lines.contains { $0.knownSSRCs.contains(ssrc) }
    }

    // MARK: RTP

    private func receiveRTP(
        _ datagram: consuming ByteBuffer, from source: TransportAddress, now: MonotonicInstant
    ) -> ReceiveOutcome {
        let size = DataSize(bytes: datagram.readableBytes)
        guard let typeByte = datagram.getInteger(at: datagram.readerIndex + 1, as: UInt8.self),
            let ssrc = datagram.getInteger(at: datagram.readerIndex + 8, as: UInt32.self)
        else { return .malformed }
        guard let line = receivingLine(payloadType: typeByte & 0x7f, ssrc: ssrc, datagram: copy datagram) else {
            return .unknown
        }
        do {
            try lines[line].inbound.unprotect(rtp: &datagram)
        } catch {
            counters.count(error)
            return .unauthenticated
        }
        guard let packet = try? RTPPacket(parsing: datagram) else {
            counters.malformedPackets &+= 1
            return .malformed
        }
        receive(packet, line: line, size: size, from: source, now: now)
        return .accepted
    }

    /// The line whose packet this is: the one that knows the SSRC, else one with the payload type. Without BUNDLE two
    /// lines may use one payload type, each with its own keys: then the first whose keys fit.
    private func receivingLine(payloadType: UInt8, ssrc: UInt32, datagram: ByteBuffer) -> Int? {
        var fitting: Int?
        for index in lines.indices
        where lines[index].negotiated.receives && lines[index].negotiated.payloadType == payloadType {
            if lines[index].knownSSRCs.contains(ssrc) { return index }
            if let first = fitting, !authenticates(datagram, line: first) { fitting = nil }
            fitting = fitting ?? index
        }
        return fitting
    }

    /// Whether a line's keys fit a packet whose SSRC is new. A fresh context is asked, so that the packet does not count
    /// as a replay when it is then taken.
    private func authenticates(_ datagram: consuming ByteBuffer, line: Int) -> Bool {
        guard let keys = lines[line].negotiated.keys?.inbound,
            let trial = try? SRTPContext(keys: keys, direction: .inbound)
        else { return false }
        return (try? trial.unprotect(rtp: &datagram)) != nil
    }

    private func receive(
        _ packet: RTPPacket, line: Int, size: DataSize, from source: TransportAddress, now: MonotonicInstant
    ) {
        latch(line: line, rtp: packet, from: source)
        lines[line].lastRTP = now
        authenticated(now: now)
        counters.packetsReceived &+= 1
        receiveMeter.add(size, now: now)
        if let id = lines[line].header.inboundTransportSequence,
            let sequence = packet.extensions.transportSequenceNumber(id: id)
        {
            feedbackRecorder?.received(transportSequence: sequence, now: now)
        }
        if line == videoLine {
            videoReceiver?.insert(packet, size: size, now: now)
            deliverVideo(now: now)
            sendDueFeedback(now: now)
        } else if line == audioLine, let audio = audioReceiver?.insert(packet, size: size, now: now) {
            events.append(.audioPacket(audio))
        }
    }

    /// Media goes to where the newest authentic packet came from: a client may change its address at any time.
    private func latch(line: Int, rtp packet: RTPPacket, from source: TransportAddress) {
        guard lines[line].isNewest(ssrc: packet.ssrc, sequenceNumber: packet.sequenceNumber) else { return }
        lines[line].remember(ssrc: packet.ssrc)
        guard lines[line].rtpDestination != source else { return }
        setDestination(source, line: line)
    }

    /// Whether RTP of a line, or of its bundle, still comes.
    private func isHearingRTP(line: Int, now: MonotonicInstant) -> Bool {
        lines.indices.contains { index in
            guard index == line || session.isBundled, let last = lines[index].lastRTP else { return false }
            return now - last < .seconds(2)
        }
    }

    private func setDestination(_ source: TransportAddress, line: Int) {
        for index in lines.indices where index == line || session.isBundled {
            lines[index].rtpDestination = source
            if lines[index].negotiated.rtcpMux { lines[index].rtcpDestination = source }
        }
    }

    // MARK: RTCP

    private func receiveRTCP(
        _ datagram: consuming ByteBuffer, from source: TransportAddress, now: MonotonicInstant
    ) -> ReceiveOutcome {
        guard let ssrc = datagram.getInteger(at: datagram.readerIndex + 4, as: UInt32.self) else { return .malformed }
        let size = DataSize(bytes: datagram.readableBytes)
        let known = lines.indices.filter { lines[$0].knownSSRCs.contains(ssrc) }
        for line in known.isEmpty ? Array(lines.indices) : known {
            var attempt = copy datagram
            do {
                try lines[line].inbound.unprotect(rtcp: &attempt)
            } catch {
                counters.count(error)
                continue
            }
            guard let packets = try? RTCPPacket.parse(compound: attempt) else {
                counters.malformedPackets &+= 1
                return .malformed
            }
            lines[line].remember(ssrc: ssrc)
            if lines[line].negotiated.rtcpMux {
                // Who sends no RTP, by role or for the time being, is known by RTCP alone.
                if lines[line].rtpDestination == nil || !isHearingRTP(line: line, now: now) {
                    setDestination(source, line: line)
                }
            } else {
                lines[line].rtcpDestination = source
            }
            authenticated(now: now)
            receiveMeter.add(size, now: now)
            for packet in packets { handle(packet, line: line, now: now) }
            return .accepted
        }
        return .unauthenticated
    }

    private func handle(_ packet: RTCPPacket, line: Int, now: MonotonicInstant) {
        switch packet {
        case .senderReport(let report):
            videoReceiver?.senderReportReceived(report, now: now)
            audioReceiver?.senderReportReceived(report, now: now)
            handle(report.reports, now: now)
        case .receiverReport(let report):
            handle(report.reports, now: now)
        case .genericNACK(let nack):
            retransmit(nack, now: now)
        case .pictureLossIndication(let indication):
            guard indication.mediaSSRC == videoSender?.ssrc else { return }
            if videoSender?.pictureLossIndicated(now: now) == true { events.append(.keyFrameRequested) }
        case .fullIntraRequest(let request):
            for entry in request.entries where entry.ssrc == videoSender?.ssrc {
                if videoSender?.fullIntraRequested(commandSequence: entry.commandSequence, now: now) == true {
                    events.append(.keyFrameRequested)
                }
            }
        case .transportFeedback(let feedback):
            guard lines[line].negotiated.feedback.transportCC, let report = feedbackAdapter.handle(feedback, now: now)
            else { return }
            counters.transportFeedbackReceived &+= 1
            controller.feedbackReceived(report, now: now)
            if let roundTripTime = feedbackAdapter.roundTripTime { videoReceiver?.setRoundTripTime(roundTripTime) }
            advanceController(now: now)
        case .receiverEstimatedMaximumBitrate(let estimate):
            controller.remoteEstimateReceived(estimate.bitRate, now: now)
            advanceController(now: now)
        case .bye(let goodbye):
            // An endpoint that says goodbye for any of its streams' SSRCs is leaving: it has one stream of each kind.
            if goodbye.ssrcs.contains(where: { lines[line].knownSSRCs.contains($0) }) { events.append(.goodbye) }
        case .sourceDescription, .congestionControlFeedback, .other:
            break
        }
    }

    private func handle(_ reports: [ReportBlock], now: MonotonicInstant) {
        let ntpNow = wallClock.ntpTime(at: now)
        for block in reports {
            if block.ssrc == videoSender?.ssrc {
                videoSender?.statistics.reportReceived(block, ntpNow: ntpNow)
                guard let statistics = videoSender?.statistics else { continue }
                if let roundTripTime = statistics.roundTripTime { videoReceiver?.setRoundTripTime(roundTripTime) }
                controller.receiverReportReceived(
                    fractionLost: statistics.fractionLost, roundTripTime: statistics.roundTripTime, now: now)
                advanceController(now: now)
            } else if block.ssrc == audioSender?.ssrc {
                audioSender?.statistics.reportReceived(block, ntpNow: ntpNow)
            }
        }
    }

    private func retransmit(_ nack: GenericNACK, now: MonotonicInstant) {
        guard let line = videoLine, nack.mediaSSRC == videoSender?.ssrc else { return }
        let roundTripTime = self.roundTripTime ?? .milliseconds(50)
        for sequenceNumber in nack.sequenceNumbers {
            counters.negativeAcknowledgementsReceived &+= 1
            // What the path cannot carry in time is not repeated on top.
            guard pacer.expectedDrainTime < Self.maximumPacerDelay else { continue }
            guard let datagram = history.packet(sequenceNumber, roundTripTime: roundTripTime, now: now) else {
                continue
            }
            budget.spend(DataSize(bytes: datagram.readableBytes), now: now)
            pacer.enqueue(
                .retransmission(datagram, line: line), size: DataSize(bytes: datagram.readableBytes),
                priority: .retransmission, now: now)
        }
    }
}
