import H264
public import MediaCore
public import NIOCore
public import RTP
public import RateControl
public import SecureTransport
public import VideoCoding

/// Everything between us and one remote endpoint, sans I/O: SRTP, RTP and RTCP, jitter buffer, NACK, keyframe requests,
/// congestion feedback and control, pacing. The relay's participants and the test clients are built on the same code.
///
/// The owner hands in datagrams and the time, and drains `pollEvent()` and `pollTransmit(now:)` after each call; it calls
/// `wake(now:)` at `nextWakeUp`. Not thread-safe: it belongs to one event loop.
public final class PeerConnection {
    /// What became of a datagram.
    public enum ReceiveOutcome: Sendable {
        case accepted
        /// Known stream, wrong or replayed authentication.
        case unauthenticated
        /// Authentic, and not RTP or RTCP as the RFCs have it.
        case malformed
        /// No line of this session takes it.
        case unknown
    }

    public let session: NegotiatedSession
    let configuration: PeerConfiguration
    let wallClock: WallClock
    var random: SeededGenerator

    var lines: [MediaLine] = []
    /// Indexes into `lines`.
    private(set) var videoLine: Int?
    private(set) var audioLine: Int?

    var videoReceiver: VideoReceiveStream?
    var audioReceiver: AudioReceiveStream?
    var videoSender: VideoSendStream?
    var audioSender: AudioSendStream?
    var history = PacketHistory()

    var controller: any CongestionController
    var decision: ControlDecision
    var allocator: BitrateAllocator
    var allocated = BitrateAllocation(audio: .zero, video: .zero, retransmission: .zero, isChanged: false)
    var feedbackAdapter = TransportFeedbackAdapter()
    var feedbackRecorder: TransportFeedbackRecorder?
    /// Padding borrows the newest frame's timestamp: there is none before the first.
    var pacer = Pacer<OutgoingPacket>(canPad: false)

    var budget = SendBudget()
    var frameDelay = FrameDelayMeter()
    var events = CircularBuffer<PeerEvent>()
    var controlDatagrams = CircularBuffer<Transmit>()
    var nextReport: MonotonicInstant
    var counters = PeerCounters()
    var receiveMeter = RateMeter()
    var sendMeter = RateMeter()
    var fullIntraSequence: UInt8 = 0
    /// How long each frame took from the encoder to its last packet on the wire.
    public private(set) var pacing = LatencyHistogram()
    private(set) var isClosed = false

    /// When the last packet that authenticated came; `nil` before the first.
    public private(set) var lastAuthenticated: MonotonicInstant?

    /// A datagram to send.
    public struct Transmit: Sendable {
        public var datagram: ByteBuffer
        public var destination: TransportAddress
    }

    /// A packet in the pacer.
    enum OutgoingPacket: Sendable {
        /// Numbered for transport-wide feedback and protected as it leaves.
        case media(RTPPacket, line: Int, enqueued: MonotonicInstant)
        /// The identical bytes once more: a second ciphertext under one packet index would break SRTP's keys.
        case retransmission(ByteBuffer, line: Int)
    }

    /// - Parameter controller: `nil` for the default, `ConfrelayCongestionController`.
    public init(
        session: NegotiatedSession, configuration: PeerConfiguration, wallClock: WallClock,
        controller: (any CongestionController)? = nil, now: MonotonicInstant
    ) throws(SRTPError) {
        self.session = session
        self.configuration = configuration
        self.wallClock = wallClock
        random = SeededGenerator(seed: configuration.seed)
        self.controller = controller ?? ConfrelayCongestionController(limits: configuration.rateLimits, now: now)
        decision = self.controller.advance(now: now)
        allocator = BitrateAllocator(configuration: Self.allocation(of: session, limits: configuration.rateLimits))
        nextReport = now + .milliseconds(200)
        for media in session.media {
            lines.append(
                try MediaLine(
                    media, bundled: session.isBundled ? lines.first : nil,
                    trustsRemoteDescription: configuration.trustsRemoteDescription))
            switch media.kind {
            case .video: setUpVideo(media, line: lines.count - 1)
            case .audio: setUpAudio(media, line: lines.count - 1)
            }
        }
        // Without video there is little to send: probing for more would be noise on someone's link.
        if videoSender == nil { self.controller.demandChanged(Self.audioDemand, now: now) }
        apply(decision, now: now)
    }

    /// The least that a video encoder is told, whatever a receiver's own limit says.
    private static let minimumVideoBitRate = BitRate.kilobits(50)
    /// The most that an audio stream takes, headers included.
    private static let audioDemand = BitRate.kilobits(64)

    private func setUpVideo(_ media: NegotiatedMedia, line: Int) {
        videoLine = line
        if media.receives {
            videoReceiver = VideoReceiveStream(
                nackEnabled: media.feedback.nack, canRequestKeyFrames: media.feedback.pli || media.feedback.fir,
                describedSets: media.h264?.parameterSets ?? [])
        }
        if media.sends {
            videoSender = VideoSendStream(
                ssrc: media.localSSRC, payloadType: media.payloadType,
                mode: PacketizationMode(rawValue: media.packetizationMode) ?? .singleNALUnit,
                maximumPayloadSize: PeerConfiguration.maximumPayloadSize.bytes, using: &random)
        }
        if media.receives, media.feedback.transportCC {
            feedbackRecorder = TransportFeedbackRecorder(senderSSRC: media.localSSRC)
        }
    }

    private func setUpAudio(_ media: NegotiatedMedia, line: Int) {
        audioLine = line
        if media.receives { audioReceiver = AudioReceiveStream() }
        if media.sends {
            audioSender = AudioSendStream(ssrc: media.localSSRC, payloadType: media.payloadType, using: &random)
        }
        if media.receives, media.feedback.transportCC, feedbackRecorder == nil {
            feedbackRecorder = TransportFeedbackRecorder(senderSSRC: media.localSSRC)
        }
    }

    // MARK: Sending

    /// Whether a video frame should be encoded for this peer now: its address is known, and the pacer has room within
    /// its latency budget.
    public func hasRoomForVideo(now: MonotonicInstant) -> Bool {
        guard let videoLine, lines[videoLine].rtpDestination != nil else { return false }
        return pacer.queueDelay(now: now) < Self.maximumPacerDelay && budget.hasRoom(now: now)
    }

    /// A frame more would leave later than this: the tick is left out, before any bits are spent on it.
    static let maximumPacerDelay = Duration.milliseconds(120)

    /// Queues a frame for the pacer.
    ///
    /// - Parameter targetTime: When the frame's target bitrate was read.
    public func sendVideo(
        _ frame: EncodedFrame, captureTime: MonotonicInstant, targetTime: MonotonicInstant, now: MonotonicInstant
    ) {
        guard !isClosed, let line = videoLine, let packets = videoSender?.packetize(frame, captureTime: captureTime)
        else { return }
        for packet in packets { enqueue(packet, line: line, priority: .video, now: now) }
        let size = packets.reduce(DataSize.zero) {
            $0 + DataSize(bytes: $1.payload.readableBytes) + PeerConfiguration.packetOverhead
        }
        budget.spend(frame: size, now: now)
        if let delay = frameDelay.add(now - targetTime) { controller.frameDelayChanged(delay, now: now) }
        pacer.canPad = true
    }

    /// Queues an Opus packet; it leaves unpaced, ahead of everything else.
    ///
    /// - Parameters:
    ///   - sampleTime: Samples at 48 kHz since the stream began, modulo 2³².
    ///   - level: The audio level for the header extension of RFC 6464, where it was negotiated.
    public func sendAudio(
        _ payload: ByteBuffer, sampleTime: UInt32, level: AudioLevel?, captureTime: MonotonicInstant,
        now: MonotonicInstant
    ) {
        guard !isClosed, let line = audioLine,
            var packet = audioSender?.packetize(payload, sampleTime: sampleTime, captureTime: captureTime)
        else { return }
        if let level, let id = lines[line].negotiated.outboundExtensionIDs.audioLevel {
            packet.extensions.setAudioLevel(level, id: id)
        }
        enqueue(packet, line: line, priority: .audio, now: now)
    }

    /// Asks the remote sender for a keyframe, soon and then until it comes: the decoder lost its references.
    public func requestKeyFrame(now: MonotonicInstant) {
        videoReceiver?.decoderLostReferences(now: now)
    }

    private func enqueue(_ packet: RTPPacket, line: Int, priority: PacketPriority, now: MonotonicInstant) {
        let size = DataSize(bytes: packet.payload.readableBytes) + PeerConfiguration.packetOverhead
        pacer.enqueue(.media(packet, line: line, enqueued: now), size: size, priority: priority, now: now)
    }

    /// Ends the connection: RTCP BYE is queued for `pollTransmit(now:)`, and nothing else is sent from here on.
    public func close(now: MonotonicInstant) {
        guard !isClosed else { return }
        _ = pacer.removeAll { _ in true }
        controlDatagrams.removeAll()
        for index in lines.indices {
            sendControl([.bye(Goodbye(ssrcs: [lines[index].negotiated.localSSRC]))], line: index, now: now)
        }
        isClosed = true
    }

    /// The next datagram to send, if any may leave now.
    public func pollTransmit(now: MonotonicInstant) -> Transmit? {
        if let control = controlDatagrams.popFirst() { return control }
        guard !isClosed else { return nil }
        while let (packet, probeClusterID) = pacer.dequeue(now: now) {
            if let transmit = finish(packet, probeClusterID: probeClusterID, now: now) { return transmit }
        }
        let padding = pacer.paddingNeeded(now: now)
        if padding > .zero, let line = videoLine, let packet = videoSender?.makePadding() {
            pacer.enqueue(
                .media(packet, line: line, enqueued: now),
                size: DataSize(bytes: Int(packet.paddingLength)) + PeerConfiguration.packetOverhead,
                priority: .padding, now: now)
            if let (packet, probeClusterID) = pacer.dequeue(now: now) {
                return finish(packet, probeClusterID: probeClusterID, now: now)
            }
        }
        return nil
    }

    /// Numbers, protects and remembers a packet that the pacer let go.
    private func finish(_ outgoing: OutgoingPacket, probeClusterID: Int?, now: MonotonicInstant) -> Transmit? {
        switch outgoing {
        case .retransmission(let datagram, let line):
            guard let destination = lines[line].rtpDestination else { return nil }
            counters.retransmissions &+= 1
            sendMeter.add(DataSize(bytes: datagram.readableBytes), now: now)
            return Transmit(datagram: datagram, destination: destination)
        case .media(var packet, let line, let enqueued):
            guard let destination = lines[line].rtpDestination else { return nil }
            let header = lines[line].header
            if let id = header.absoluteSendTime {
                packet.extensions.setAbsoluteSendTime(now, id: id)
            }
            if let id = header.outboundTransportSequence {
                packet.extensions.setTransportSequenceNumber(0, id: id)
                let size = DataSize(bytes: packet.encodedSize) + lines[line].outboundTrailerSize
                let (sequence, sent) = feedbackAdapter.packetSent(size: size, probeClusterID: probeClusterID, now: now)
                packet.extensions.setTransportSequenceNumber(sequence, id: id)
                controller.packetSent(sent, now: now)
                updateHold()
            }
            var datagram = packet.encode()
            do {
                try lines[line].outbound.protect(rtp: &datagram)
            } catch {
                counters.protectFailures &+= 1
                return nil
            }
            if packet.marker, line == videoLine { pacing.observe(now - enqueued) }
            if line == videoLine {
                videoSender?.sent(payloadSize: DataSize(bytes: packet.payload.readableBytes), now: now)
                if lines[line].negotiated.feedback.nack {
                    history.store(datagram, sequenceNumber: packet.sequenceNumber, now: now)
                }
            }
            counters.packetsSent &+= 1
            sendMeter.add(DataSize(bytes: datagram.readableBytes), now: now)
            return Transmit(datagram: datagram, destination: destination)
        }
    }

    // MARK: Events and time

    /// The next event, if any.
    public func pollEvent() -> PeerEvent? { events.popFirst() }

    /// When `wake(now:)` is to be called at the latest.
    public func nextWakeUp(now: MonotonicInstant) -> MonotonicInstant {
        guard !isClosed else { return .distantFuture }
        var next = min(nextReport, decision.nextWakeUp)
        if let deadline = videoReceiver?.nextDeadline { next = min(next, deadline) }
        if let due = feedbackRecorder?.nextFeedbackTime { next = min(next, due) }
        if let pacing = pacer.nextSendTime(now: now) { next = min(next, pacing) }
        return next
    }

    /// Does what is due: gives up or asks again for missing packets, sends feedback and reports, moves the controller on.
    public func wake(now: MonotonicInstant) {
        guard !isClosed else { return }
        deliverVideo(now: now)
        sendDueFeedback(now: now)
        if now >= nextReport {
            sendReports(now: now)
            // Randomised so that the reports of many peers do not come in step (RFC 3550 6.3.5).
            nextReport = now + .milliseconds(Int64.random(in: 500...1500, using: &random))
        }
        if now >= decision.nextWakeUp { advanceController(now: now) }
    }

    /// Packets wait while the controller's window is full.
    private func updateHold() {
        pacer.isHeld = decision.congestionWindow.map { feedbackAdapter.dataInFlight >= $0 } ?? false
    }

    func advanceController(now: MonotonicInstant) {
        controller.senderQueueChanged(pacer.queuedSize, now: now)
        decision = controller.advance(now: now)
        apply(decision, now: now)
    }

    private func apply(_ decision: ControlDecision, now: MonotonicInstant) {
        pacer.setRates(
            pacing: decision.pacingRate, burst: decision.pacingBurst, padding: decision.paddingRate, now: now)
        updateHold()
        for probe in decision.newProbeClusters { pacer.addProbe(probe, now: now) }
        let allocation = allocator.allocate(
            target: decision.targetBitRate, fractionLost: videoSender?.statistics.fractionLost ?? 0)
        let sustained = max(
            decision.averageBitRate - allocation.audio, Self.minimumVideoBitRate)
        budget.setRate(sustained, now: now)
        guard allocation.isChanged else { return }
        if videoSender != nil, allocation.video != allocated.video {
            events.append(.videoBitRateChanged(VideoBitRate(target: allocation.video, sustained: sustained)))
        }
        if audioSender != nil, allocation.audio != allocated.audio {
            events.append(.audioBitRateChanged(allocation.audio))
        }
        allocated = allocation
    }

    private static func allocation(
        of session: NegotiatedSession, limits: RateLimits
    ) -> BitrateAllocator.Configuration {
        let audioMaximum = min(session.audio?.opus?.maximumAverageBitRate ?? .kilobits(40), .kilobits(40))
        return BitrateAllocator.Configuration(
            audio: session.audio?.sends == true ? min(.kilobits(16), audioMaximum)...audioMaximum : nil,
            video: session.video?.sends == true
                ? minimumVideoBitRate...max(minimumVideoBitRate, limits.maximum) : nil)
    }

    func deliverVideo(now: MonotonicInstant) {
        guard videoReceiver != nil else { return }
        for frame in videoReceiver?.popFrames(now: now) ?? [] { events.append(.videoFrame(frame)) }
    }

    func authenticated(now: MonotonicInstant) {
        lastAuthenticated = now
    }
}
