package import CongestionControl
public import MediaCore
public import NIOCore
import RTP
public import SDP
public import SecureTransport
public import VideoCoding

extension PeerConnection {
    /// Whether a video frame should be encoded for this peer now: there is where to send it, and the pacer has room
    /// within its latency budget, and the controller does not pause video.
    public func hasRoomForVideo(now: MonotonicInstant) -> Bool {
        canSendVideo && decision.videoPause == nil && budget.hasRoom(now: now)
            && pacer.queueDelay(now: now) < min(LatencyBudget.beforeFrame, decision.frameTimeout ?? .seconds(1))
    }

    /// Whether the path to the remote side carries too little for video, so that audio alone is sent.
    public var isVideoPaused: Bool { decision.videoPause == .slowPath && canSendVideo }

    /// Whether there is where to send video.
    package var canSendVideo: Bool {
        guard let line = videoLine ?? line(.screenShare) else { return false }
        return lines[line].canSend
    }

    /// How long the path takes, at the rate that it is believed to carry, for what was sent beyond that rate and for
    /// what waits here, and for so much more.
    package func videoBacklog(adding size: DataSize = .zero, now: MonotonicInstant) -> Duration {
        max(budget.backlog(adding: size, now: now), pacer.queueDelay(now: now))
    }

    /// Queues a frame for the pacer.
    ///
    /// - Parameters:
    ///   - content: Which video stream the frame is of.
    ///   - rotation: How the picture is to be turned to stand upright; told where that was negotiated.
    ///   - targetTime: When the frame's target bitrate was read.
    public func sendVideo(
        _ frame: EncodedFrame, content: NegotiatedMedia.Content = .main, rotation: VideoRotation = .none,
        captureTime: MonotonicInstant, targetTime: MonotonicInstant, now: MonotonicInstant
    ) {
        sendVideo(
            frame, payloads: nil, content: content, rotation: rotation, captureTime: captureTime,
            targetTime: targetTime, ledger: nil, now: now)
    }

    /// The same of a frame whose payloads were made for others too, and of which is known what it waited for: what it
    /// still waits for here is counted with that.
    package func sendVideo(
        _ frame: EncodedFrame, payloads: FramePayloads?, content: NegotiatedMedia.Content = .main,
        rotation: VideoRotation = .none, captureTime: MonotonicInstant, targetTime: MonotonicInstant,
        ledger: PictureLedger?, now: MonotonicInstant
    ) {
        guard !isClosed, let line = line(content), lines[line].sends,
            let packets = lines[line].videoSender?.packetize(
                frame, payloads: payloads, rotation: rotation, captureTime: captureTime)
        else { return }
        var first = ledger
        for packet in packets {
            enqueue(packet, line: line, priority: .video, beginning: first, now: now)
            first = nil
        }
        let size = packets.reduce(DataSize.zero) {
            $0 + DataSize(bytes: $1.payload.readableBytes) + PeerConfiguration.packetOverhead
        }
        budget.spend(frame: size, now: now)
        if let delay = frameDelay.add(now - targetTime) { controller.frameDelayChanged(delay, now: now) }
        pacer.canPad = configuration.canPad
    }

    /// The RTP timestamp of the newest frame that `sendVideo` took; nil before the first.
    package var latestVideoTimestamp: UInt32? {
        videoLine.flatMap { lines[$0].videoSender?.latestTimestamp }
    }

    /// How long what is queued takes to leave.
    package func queueDelay(now: MonotonicInstant) -> Duration { pacer.queueDelay(now: now) }

    /// What the controller knows and wants.
    package var controllerSnapshot: ControllerSnapshot { controller.snapshot }

    /// Queues an Opus packet; it leaves unpaced, ahead of everything else.
    ///
    /// - Parameters:
    ///   - sampleTime: Samples at 48 kHz since the stream began, modulo 2³².
    ///   - level: The audio level for the header extension of RFC 6464, where it was negotiated.
    public func sendAudio(
        _ payload: ByteBuffer, sampleTime: UInt32, level: AudioLevel?, captureTime: MonotonicInstant,
        now: MonotonicInstant
    ) {
        guard !isClosed, let line = audioLine, lines[line].sends,
            let packet = lines[line].audioSender?.packetize(
                payload, sampleTime: sampleTime, captureTime: captureTime)
        else { return }
        sendAudio(packet, level: level, line: line, now: now)
    }

    /// Queues another sender's Opus packet in place of ours. Returns whether it is sent: not where it comes too late.
    ///
    /// - Parameter sampleCount: How many samples it holds, at 48 kHz.
    package func forward(
        _ received: ReceivedAudioPacket, sampleCount: Int, level: AudioLevel?, now: MonotonicInstant
    ) -> Bool {
        guard !isClosed, let line = audioLine, lines[line].sends,
            let packet = lines[line].audioSender?.forward(received, sampleCount: sampleCount)
        else { return false }
        sendAudio(packet, level: level, line: line, now: now)
        return true
    }

    private func sendAudio(_ audio: RTPPacket, level: AudioLevel?, line: Int, now: MonotonicInstant) {
        var packet = audio
        if let level, let id = lines[line].negotiated.outboundExtensionIDs.audioLevel {
            packet.extensions.setAudioLevel(level, id: id)
        }
        enqueue(packet, line: line, priority: .audio, now: now)
    }

    /// Asks the remote sender for a keyframe, soon and then until it comes: the decoder lost its references.
    public func requestKeyframe(_ content: NegotiatedMedia.Content = .main, now: MonotonicInstant) {
        guard let line = line(content) else { return }
        lines[line].videoReceiver?.decoderLostReferences(now: now)
    }

    /// Whether the remote side was negotiated to answer requests for keyframes.
    package func canRequestKeyframes(_ content: NegotiatedMedia.Content) -> Bool {
        line(content).flatMap { lines[$0].videoReceiver?.canRequestKeyframes } ?? false
    }

    /// Says that nobody looks at the video that comes, or that somebody does again: see `VideoReceiveStream.setUnseen`.
    package func setUnseen(
        _ isUnseen: Bool, content: NegotiatedMedia.Content, needsKeyframe: Bool, now: MonotonicInstant
    ) {
        guard let line = line(content) else { return }
        lines[line].videoReceiver?.setUnseen(isUnseen, needsKeyframe: needsKeyframe, now: now)
    }

    /// - Parameter picture: What the picture waited for that begins with the packet.
    private func enqueue(
        _ packet: RTPPacket, line: Int, priority: PacketPriority, beginning picture: PictureLedger? = nil,
        now: MonotonicInstant
    ) {
        let size = DataSize(bytes: packet.payload.readableBytes) + PeerConfiguration.packetOverhead
        pacer.enqueue(.media(packet, line: line, beginning: picture), size: size, priority: priority, now: now)
    }

    /// Ends the connection: RTCP BYE and the alert that closes the DTLS association are queued for
    /// `pollTransmit(now:)`, and nothing else is sent from here on.
    public func close(now: MonotonicInstant) {
        guard !isClosed else { return }
        _ = pacer.removeAll { _ in true }
        controlDatagrams.removeAll()
        for index in lines.indices {
            sendControl([.bye(Goodbye(ssrcs: [lines[index].negotiated.localSSRC]))], line: index, now: now)
        }
        transport?.close(now: now)
        isClosed = true
    }

    /// The next datagram to send, if any may leave now.
    public func pollTransmit(now: MonotonicInstant) -> Transmit? {
        if let control = controlDatagrams.popFirst() ?? transport?.pollTransmit() { return control }
        guard !isClosed else { return nil }
        while let (packet, probeClusterID) = pacer.dequeue(now: now) {
            if let transmit = finish(packet, probeClusterID: probeClusterID, now: now) { return transmit }
        }
        let padding = pacer.paddingNeeded(now: now)
        if padding > .zero, let (packet, line) = makePadding() {
            pacer.enqueue(
                packet.ssrc == lines[line].negotiated.localSSRC
                    ? .media(packet, line: line, beginning: nil) : .retransmission(packet, line: line),
                size: DataSize(bytes: Int(packet.paddingLength)) + PeerConfiguration.packetOverhead,
                priority: .padding, now: now)
            if let (packet, probeClusterID) = pacer.dequeue(now: now) {
                return finish(packet, probeClusterID: probeClusterID, now: now)
            }
        }
        return nil
    }

    private func makePadding() -> (packet: RTPPacket, line: Int)? {
        for line in lines.indices where lines[line].sendsVideo {
            if let packet = lines[line].videoSender?.makePadding() { return (packet, line) }
        }
        return nil
    }

    /// Seals and remembers a packet that the pacer let go.
    private func finish(_ outgoing: OutgoingPacket, probeClusterID: Int?, now: MonotonicInstant) -> Transmit? {
        switch outgoing {
        case .forwarded(var numbered, let line, let arrival):
            guard let transmit = seal(&numbered.packet, line: line, probeClusterID: probeClusterID, now: now) else {
                return nil
            }
            forwarding.observe(now - arrival)
            lines[line].videoSender?.sent(numbered.packet, datagram: transmit.datagram, now: now)
            lines[line].videoSender?.forwarding?.sent(number: numbered.number, endsFrame: numbered.packet.marker)
            protect(numbered.packet, line: line, now: now)
            return transmit
        case .repetition(let datagram, let line):
            guard let destination = lines[line].rtpDestination else { return nil }
            counters.retransmissions &+= 1
            sendMeter.add(DataSize(bytes: datagram.readableBytes), now: now)
            return Transmit(datagram: datagram, destination: destination)
        case .retransmission(var packet, let line):
            if packet.payload.readableBytes > 0 { counters.retransmissions &+= 1 }
            return seal(&packet, line: line, probeClusterID: probeClusterID, now: now)
        case .repair(var packet, let line):
            counters.flexFECPacketsSent &+= 1
            return seal(&packet, line: line, probeClusterID: probeClusterID, now: now)
        case .media(var packet, let line, let picture):
            guard let transmit = seal(&packet, line: line, probeClusterID: probeClusterID, now: now) else { return nil }
            if let picture { latency.observe(picture, now: now) }
            lines[line].videoSender?.sent(packet, datagram: transmit.datagram, now: now)
            protect(packet, line: line, now: now)
            return transmit
        }
    }

    /// Numbers a packet that leaves, for feedback on it, and tells the controller.
    private func number(_ size: DataSize, probeClusterID: Int?, now: MonotonicInstant) -> UInt16 {
        let (sequence, sent) = feedbackAdapter.packetSent(size: size, probeClusterID: probeClusterID, now: now)
        controller.packetSent(sent, now: now)
        updateHold()
        return sequence
    }

    /// Numbers a packet for transport-wide feedback, and protects it.
    private func seal(
        _ packet: inout RTPPacket, line: Int, probeClusterID: Int?, now: MonotonicInstant
    ) -> Transmit? {
        guard let destination = lines[line].rtpDestination, let keys = lines[line].keys else { return nil }
        if let id = lines[line].header.outboundMID, lines[line].namesLine(ssrc: packet.ssrc) {
            packet.extensions.setMID(lines[line].header.mid, id: id)
        }
        if let id = lines[line].header.absoluteSendTime {
            packet.extensions.setAbsoluteSendTime(now, id: id)
        }
        if let id = lines[line].header.outboundTransportSequence {
            packet.extensions.setTransportSequenceNumber(0, id: id)
            let size = DataSize(bytes: packet.encodedSize) + keys.outboundTrailerSize
            let sequence = number(size, probeClusterID: probeClusterID, now: now)
            packet.extensions.setTransportSequenceNumber(sequence, id: id)
        } else if lines[line].header.usesCongestionControlFeedback {
            let size = DataSize(bytes: packet.encodedSize) + keys.outboundTrailerSize
            let sequence = number(size, probeClusterID: probeClusterID, now: now)
            sentPacketNumbers.add(ssrc: packet.ssrc, sequence: packet.sequenceNumber, transportSequence: sequence)
        }
        var datagram = packet.encode()
        do {
            try keys.outbound.protect(rtp: &datagram)
        } catch {
            counters.protectFailures &+= 1
            return nil
        }
        counters.packetsSent &+= 1
        sendMeter.add(DataSize(bytes: datagram.readableBytes), now: now)
        return Transmit(datagram: datagram, destination: destination)
    }
}
