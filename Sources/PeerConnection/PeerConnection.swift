public import CongestionControl
import H264
public import MediaCore
public import NIOCore
public import RTP
public import SDP
public import SecureTransport
import VideoCoding

/// Everything between us and one remote endpoint, sans I/O: SRTP, RTP and RTCP, jitter buffer, NACK, keyframe requests,
/// congestion feedback and control, pacing. The relay's participants and the test clients are built on the same code.
///
/// The owner hands in datagrams and the time, and drains `pollEvent()` and `pollTransmit(now:)` after each call; it
/// calls `wake(now:)` at `nextWakeUp`. Not thread-safe: it belongs to one event loop.
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

    public internal(set) var session: NegotiatedSession
    package let configuration: PeerConfiguration
    let wallClock: WallClock
    var random: SeededGenerator

    /// The path and the keys, where ICE and DTLS make them.
    var transport: PeerTransport?
    package var lines: [MediaLine] = []
    /// Index into `lines` of the video that shows the participant or, the other way, the composed picture.
    var videoLine: Int?
    /// Index into `lines`.
    var audioLine: Int?

    var controller: any CongestionController
    var decision: ControlDecision
    /// How long the controller takes a packet sent now to queue on the path, as of its last decision; zero where it
    /// says nothing of it. Kept, since to ask the controller is to copy it.
    package private(set) var predictedQueue = Duration.zero
    var allocator: BitrateAllocator
    var allocated = BitrateAllocation(audio: .zero, video: .zero, retransmission: .zero, isChanged: false)
    /// What was last told of video over several frames.
    private var allocatedSustained = BitRate.zero
    var feedbackAdapter = TransportFeedbackAdapter()
    package var feedbackRecorder: TransportFeedbackRecorder?
    /// The same where feedback is that of RFC 8888.
    var congestionFeedbackRecorder: CongestionFeedbackRecorder?
    /// Which numbers packets had, where feedback names them by the numbers of their sources (RFC 8888).
    var sentPacketNumbers = SentPacketNumbers()
    /// Padding borrows the newest frame's timestamp: there is none before the first.
    var pacer = Pacer<OutgoingPacket>(canPad: false)

    /// The most that there is to send, as the controller was told.
    var demand: BitRate
    /// The remote side has not been told of a bound on what it sends.
    package var limitsAreDue = false
    var budget = SendBudget()
    var frameDelay = FrameDelayMeter()
    /// How much forward error correction our video is given, and how often our audio is repeated.
    var protection = ProtectionPolicy()
    var redundancy = RedundancyPolicy()
    var lastRetransmission: MonotonicInstant?
    var events = CircularBuffer<PeerEvent>()
    var controlDatagrams = CircularBuffer<Transmit>()
    var nextReport: MonotonicInstant
    var counters = PeerCounters()
    var receiveMeter = RateMeter()
    var sendMeter = RateMeter()
    var fullIntraSequence: UInt8 = 0
    /// What the frames that were shown waited for, where that is known.
    var latency = LatencyLedger()
    /// How long packets that are forwarded took through here.
    package var forwarding = LatencyHistogram()
    /// The pace at which passed-on packets may leave at least: their sender has paced them already.
    package var forwardingRate = BitRate.zero
    var isClosed = false
    /// The addresses from which packets last authenticated, the newest last, where the descriptions carry the keys.
    var provedAddresses: [TransportAddress] = []
    /// Nothing is sent, because the remote side has been silent for the configuration's limit.
    package var isPausedForSilence = false

    /// When the last packet that authenticated came; `nil` before the first.
    public private(set) var lastAuthenticated: MonotonicInstant?

    /// A datagram to send.
    public struct Transmit: Sendable {
        public var datagram: ByteBuffer
        public var destination: TransportAddress
    }

    /// A packet in the pacer.
    enum OutgoingPacket: Sendable {
        /// Numbered for transport-wide feedback and protected as it leaves; the first of a picture knows what that
        /// waited for.
        case media(RTPPacket, line: Int, beginning: PictureLedger?)
        /// One that another sender made, rewritten; it came at `arrival`.
        case forwarded(NumberedPacket, line: Int, arrival: MonotonicInstant)
        /// A packet of the stream of retransmissions (RFC 4588), treated like one of media.
        case retransmission(RTPPacket, line: Int)
        /// The bytes of an earlier packet once more.
        case repetition(ByteBuffer, line: Int)
        /// A packet of forward error correction, treated like one of media.
        case repair(RTPPacket, line: Int)
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
        demand = configuration.rateLimits.maximum
        decision = self.controller.advance(now: now)
        allocator = BitrateAllocator(configuration: BitrateAllocator.Configuration(audio: nil, video: nil))
        nextReport = now + .milliseconds(200)
        if let negotiated = session.transport {
            guard let certificate = configuration.certificate else { throw .missingKeys }
            transport = PeerTransport(
                negotiated, certificate: certificate, random: configuration.checkIdentifiers, now: now)
        }
        for media in session.media { try add(media) }
        linesChanged(now: now)
        apply(decision, now: now)
    }

    // MARK: Events and time

    /// The next event, if any.
    public func pollEvent() -> PeerEvent? { events.popFirst() }

    /// When `wake(now:)` is to be called at the latest.
    public func nextWakeUp(now: MonotonicInstant) -> MonotonicInstant {
        guard !isClosed else { return .distantFuture }
        guard !limitsAreDue else { return now }
        var next = min(nextReport, decision.nextWakeUp)
        for line in lines.indices {
            if let deadline = lines[line].videoReceiver?.nextDeadline { next = min(next, deadline) }
            if let deadline = lines[line].videoSender?.flexFEC?.nextDeadline { next = min(next, deadline) }
        }
        if let due = feedbackRecorder?.nextFeedbackTime { next = min(next, due) }
        if let due = congestionFeedbackRecorder?.nextFeedbackTime { next = min(next, due) }
        if let pacing = pacer.nextSendTime(now: now) { next = min(next, pacing) }
        if let deadline = transport?.nextDeadline { next = min(next, deadline) }
        return next
    }

    /// Does what is due: gives up or asks again for missing packets, sends feedback and reports, moves the controller
    /// on.
    public func wake(now: MonotonicInstant) {
        guard !isClosed else { return }
        transport?.advance(now: now)
        followTransport(now: now)
        deliverVideo(now: now)
        sendDueRepair(now: now)
        sendDueFeedback(now: now)
        sendDueLimits(now: now)
        pauseIfSilent(now: now)
        if now >= nextReport {
            sendReports(now: now)
            // Randomised so that the reports of many peers do not come in step (RFC 3550 6.3.5).
            nextReport = now + .milliseconds(Int64.random(in: 500...1500, using: &random))
        }
        if now >= decision.nextWakeUp { advanceController(now: now) }
    }

    /// Packets wait while the controller's window is full.
    func updateHold() {
        pacer.isHeld = decision.congestionWindow.map { feedbackAdapter.dataInFlight >= $0 } ?? false
    }

    func advanceController(now: MonotonicInstant) {
        controller.senderQueueChanged(pacer.queuedSize, now: now)
        decision = controller.advance(now: now)
        predictedQueue = controller.predictedQueue ?? .zero
        apply(decision, now: now)
    }

    func apply(_ decision: ControlDecision, now: MonotonicInstant) {
        pacer.setRates(
            pacing: max(decision.pacingRate, forwardingRate), burst: decision.pacingBurst,
            padding: decision.paddingRate, now: now)
        updateHold()
        for probe in decision.newProbeClusters { pacer.addProbe(probe, now: now) }
        let allocation = allocator.allocate(
            target: decision.targetBitRate, fractionLost: videoFractionLost, protection: protectionOverhead,
            audioRepetitions: audioRepetitions)
        let audio = allocation.audio * Double(1 + audioRepetitions) + allocator.audioOverhead
        let available = decision.averageBitRate - audio
        budget.setRate(max(available, Self.minimumVideoBitRate), now: now)
        let carried = max(
            available * (allocator.videoPayloadShare / (1 + protectionOverhead)), Self.minimumVideoBitRate)
        let sustained = min(carried, allocator.configuration.video?.upperBound ?? carried)
        // Over several frames it may be far less than before while the next frame's is at its least already.
        let isOther = abs(sustained / max(allocatedSustained, Self.minimumVideoBitRate) - 1) > Self.notableChange
        guard allocation.isChanged || isOther else { return }
        if lines.contains(where: \.sendsVideo), allocation.video != allocated.video || isOther {
            allocatedSustained = sustained
            events.append(.videoBitRateChanged(VideoBitRate(target: allocation.video, sustained: sustained)))
        }
        if lines.contains(where: \.sendsAudio), allocation.audio != allocated.audio {
            events.append(.audioBitRateChanged(allocation.audio))
        }
        allocated = allocation
    }

    func deliverVideo(now: MonotonicInstant) {
        for line in lines.indices {
            if let receiver = lines[line].videoReceiver { deliverVideo(from: receiver, now: now) }
        }
    }

    func deliverVideo(from receiver: VideoReceiveStream, now: MonotonicInstant) {
        for frame in receiver.popFrames(now: now) { events.append(.videoFrame(frame)) }
    }

    func authenticated(now: MonotonicInstant) {
        lastAuthenticated = now
        if isPausedForSilence { setPausedForSilence(false) }
    }
}
