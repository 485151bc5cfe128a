public import CongestionControl
public import MediaCore
public import NIOCore
public import RTP
public import SDP
public import SecureTransport

/// The connection to one remote endpoint, sans I/O: SRTP, RTP and RTCP, jitter buffer, NACK, keyframe requests,
/// congestion feedback and control, pacing. The relay's participants and the test clients use the same code.
///
/// The owner passes in datagrams and the time, and drains `pollEvent()` and `pollTransmit(now:)` after each call; it
/// calls `wake(now:)` at `nextWakeUp`. It is not thread-safe: it belongs to one event loop.
///
/// Parts with state of their own do the work. This type passes packets and the time to them, and their results to the
/// other parts.
public final class PeerConnection {
    public private(set) var session: NegotiatedSession
    package private(set) var configuration: PeerConfiguration
    /// The path and the keys, where ICE and DTLS make them.
    let transport: PeerTransport?
    /// The media lines. They are only replaced as a whole: each packet reads them many times, and without changes in
    /// place the compiler needs no check of a read for exclusive access.
    private(set) var lines = MediaLines()
    /// Finds the line of a received packet.
    var router = MediaRouter()
    /// Feedback on the remote side's streams.
    var feedback: FeedbackSender
    /// Decides how much leaves, and when.
    var sending: SendController
    /// Chooses how losses of our streams are repaired.
    var repair = Repair()
    /// RTCP that leaves.
    var control: ControlSender
    /// The times and addresses of packets from the remote side.
    var presence: RemotePresence
    /// True if a limit must still be sent to the remote side.
    package var limitsAreDue = false
    /// The rate of all that is forwarded on a link between relays; nil on any other connection.
    var forwardedDemand: BitRate?
    private(set) var isClosed = false
    /// The time of the last offer that was answered.
    private(set) var lastNegotiation: MonotonicInstant
    private var random: SeededGenerator
    private var nextReport: MonotonicInstant
    private var events = CircularBuffer<PeerEvent>()
    /// The packets that the remote side may request: several times what a path loses that carries anything.
    var requests = TokenBucket(rate: 20_000, capacity: 8192)

    /// The outcome of a datagram.
    public enum ReceiveOutcome: Sendable {
        case accepted
        /// Known stream, wrong or replayed authentication.
        case unauthenticated
        /// Authentic, but not valid RTP or RTCP.
        case malformed
        /// No line of this session accepts it.
        case unknown
    }

    /// A datagram to send.
    public struct Transmit: Sendable {
        public var datagram: ByteBuffer
        /// The way that it takes; it leaves from our address there, if one is named.
        public var path: NetworkPath

        public var destination: TransportAddress { path.remote }
    }

    /// - Parameter controller: `nil` for the default, `ConfrelayCongestionController`.
    public init(
        session: NegotiatedSession, configuration: PeerConfiguration, wallClock: WallClock,
        controller: (any CongestionController)? = nil, now: MonotonicInstant
    ) throws(SRTPError) {
        self.session = session
        self.configuration = configuration
        random = SeededGenerator(seed: configuration.seed)
        control = ControlSender(wallClock: wallClock, cname: session.cname)
        feedback = FeedbackSender(
            timing: configuration.feedbackTiming, reportsFrameEnds: configuration.reportsFrameEnds)
        sending = SendController(
            controller: controller ?? ConfrelayCongestionController(limits: configuration.rateLimits, now: now),
            maximum: configuration.rateLimits.maximum, canPad: configuration.canPad, now: now)
        nextReport = now + .milliseconds(200)
        lastNegotiation = now
        if let negotiated = session.transport {
            guard let certificate = configuration.certificate else { throw .missingKeys }
            transport = PeerTransport(
                negotiated, certificate: certificate, random: configuration.checkIdentifiers, now: now)
            presence = RemotePresence(silenceLimit: nil)
        } else {
            transport = nil
            presence = RemotePresence(silenceLimit: configuration.silenceLimit)
        }
        for media in session.media {
            try add(media, trustsDescription: configuration.trustsRemoteDescription)
        }
        linesChanged(now: now)
        tell(sending.apply(sendConditions, now: now))
    }

    // MARK: Negotiation

    /// Applies a further offer and answer of the same session: new, changed and ended streams, and new ICE credentials
    /// (an ICE restart). Continuing streams are not affected.
    ///
    /// A session keeps its kind of transport: one over ICE and DTLS stays one.
    ///
    /// - Parameter trustsDescription: True if media may go to the addresses of the remote description before a packet
    ///   from there has authenticated; nil: as at the start.
    public func update(
        session wanted: NegotiatedSession, trustsDescription: Bool? = nil, now: MonotonicInstant
    ) throws(SRTPError) {
        guard !isClosed, (wanted.transport != nil) == (transport != nil) else { return }
        let trustsDescription = trustsDescription ?? configuration.trustsRemoteDescription
        session = wanted
        lastNegotiation = now
        control.cname = wanted.cname
        if let negotiated = wanted.transport { transport?.update(negotiated, now: now) }
        let receivedBefore = lines.receivedVideo
        for line in lines {
            if let wanted = wanted.media.first(where: { $0.index == line.negotiated.index }) {
                let before = line.negotiated
                line.update(wanted, using: &random)
                guard transport == nil else { continue }
                if wanted.keys != before.keys { try setUpKeys(of: line) }
                if trustsDescription, !wanted.hasSameAddresses(as: before) { line.followDescription() }
            } else {
                line.disable(using: &random)
            }
        }
        for media in wanted.media where !lines.contains(where: { $0.negotiated.index == media.index }) {
            try add(media, trustsDescription: trustsDescription)
        }
        linesChanged(now: now)
        for (content, stream) in receivedBefore where !lines.receivedVideo.contains(where: { $0.stream === stream }) {
            emit(.videoEnded(content))
        }
        advanceController(now: now)
        followTransport(now: now)
    }

    /// Changes the limits of the sent rate.
    package func setRateLimits(_ limits: RateLimits, now: MonotonicInstant) {
        guard !isClosed, limits != configuration.rateLimits else { return }
        configuration.rateLimits = limits
        sending.limitsChanged(limits, now: now)
        sending.demandChanged(session, lines: lines, forwarded: forwardedDemand, now: now)
        advanceController(now: now)
    }

    /// Goes on with another controller once no feedback on single packets comes any more: the present one would wait
    /// for it, and hold packets back.
    ///
    /// - Parameter makeController: Makes the controller for a rate at which it is to start.
    package func replaceController(
        now: MonotonicInstant, _ makeController: (_ start: BitRate) -> any CongestionController
    ) {
        guard !isClosed else { return }
        sending.replaceController(makeController(sending.decision.averageBitRate), now: now)
        advanceController(now: now)
    }

    /// Takes over new ICE credentials or candidates alone.
    public func update(transport wanted: NegotiatedTransport, now: MonotonicInstant) {
        guard !isClosed, let transport else { return }
        session.transport = wanted
        transport.update(wanted, now: now)
        followTransport(now: now)
    }

    /// Adds a line for a stream that is new.
    private func add(_ media: NegotiatedMedia, trustsDescription: Bool) throws(SRTPError) {
        let line = MediaLine(media)
        line.setPaused(presence.isPaused)
        if let transport {
            if let keys = lines.first?.keys { line.use(keys) }
            line.follow(transport.selectedPath)
        } else {
            try setUpKeys(of: line)
            if trustsDescription { line.followDescription() }
            // Streams of a bundle go to one address, which packets on other lines may have shown.
            if session.isBundled, line.rtpPath == nil,
                let other = lines.first(where: { $0.negotiated.keys?.inbound == media.keys?.inbound })
            {
                line.follow(other)
            }
        }
        line.setUpStreams(using: &random)
        lines = MediaLines(lines, and: line)
    }

    /// Keys of a line whose description carries them. A key that stays keeps its context.
    private func setUpKeys(of line: MediaLine) throws(SRTPError) {
        guard configuration.isProtected else {
            line.use(lines.first?.keys ?? MediaLine.Keys(unprotectedAs: .aeadAES128GCM))
            return
        }
        guard let pair = line.negotiated.keys else { throw .missingKeys }
        // Lines that the session has no longer keep the keys that they had.
        let known = ([line.keys] + (session.isBundled ? lines.map(\.keys) : [])).compactMap(\.self)
        let inbound = known.first { $0.pair?.inbound == pair.inbound }?.inbound
        let outbound = line.keys.flatMap { $0.pair?.outbound == pair.outbound ? $0.outbound : nil }
        line.use(
            try MediaLine.Keys(
                pair, inbound: inbound, outbound: outbound, maximumSourceCount: configuration.maximumSourceCount))
    }

    /// Updates all parts with the present lines.
    private func linesChanged(now: MonotonicInstant) {
        lines = MediaLines(negotiated: lines)
        lines.endUnusedSources()
        sending.endUnusedSources(of: lines)
        feedback.setSession(session)
        repair.apply(to: lines)
        sending.demandChanged(session, lines: lines, forwarded: forwardedDemand, now: now)
    }

    // MARK: Events and time

    public func pollEvent() -> PeerEvent? { events.popFirst() }

    func emit(_ event: PeerEvent) { events.append(event) }

    /// The latest time of the next call to `wake(now:)`.
    public func nextWakeUp(now: MonotonicInstant) -> MonotonicInstant {
        guard !isClosed else { return .distantFuture }
        guard !limitsAreDue else { return now }
        var next = min(nextReport, sending.nextWakeUp(now: now), feedback.nextDeadline)
        for line in lines {
            if let deadline = line.videoReceiver?.nextDeadline { next = min(next, deadline) }
            if let deadline = line.videoSender?.repairDeadline { next = min(next, deadline) }
        }
        if let deadline = transport?.nextDeadline { next = min(next, deadline) }
        return next
    }

    /// Performs due work: requests missing packets again or gives them up, sends feedback and reports, advances the
    /// controller.
    public func wake(now: MonotonicInstant) {
        guard !isClosed else { return }
        // Changes by datagrams were followed when those came.
        if transport?.advance(now: now) == true { followTransport(now: now) }
        for line in lines { deliverVideo(of: line, now: now) }
        for line in lines {
            guard let sender = line.videoSender, let deadline = sender.repairDeadline, deadline <= now else { continue }
            sending.send(repair: sender.repairDue(now: now), on: line, now: now)
        }
        sendDueFeedback(now: now)
        sendDueLimits(now: now)
        if transport == nil, presence.pauseIfSilent(now: now) { setPaused(true) }
        if now >= nextReport {
            sendReports(now: now)
            // Randomised so that the reports of many peers do not come at the same time (RFC 3550 6.3.5).
            nextReport = now + .milliseconds(Int64.random(in: 500...1500, using: &random))
        }
        if now >= sending.decision.nextWakeUp { advanceController(now: now) }
    }

    func deliverVideo(of line: MediaLine, now: MonotonicInstant) {
        for frame in line.videoReceiver?.popFrames(now: now) ?? [] { emit(.videoFrame(frame)) }
    }

    /// Sends due feedback of the receivers.
    func sendDueFeedback(now: MonotonicInstant) {
        feedback.sendDue(on: lines, roundTripTime: roundTripTime, through: &control, now: now)
    }

    /// Sends a sender or receiver report for every line, and repeated messages.
    package func sendReports(now: MonotonicInstant) {
        for line in lines { control.send(limitPackets(of: line), on: line, isRegular: true, now: now) }
    }

    // MARK: Sending

    /// Advances the controller, and reports changes to the owner's encoders.
    func advanceController(now: MonotonicInstant) { tell(sending.advance(sendConditions, now: now)) }

    private func tell(_ changes: MediaRates.Changes) {
        if let rate = changes.video { emit(.videoBitRateChanged(rate)) }
        if let rate = changes.audio { emit(.audioBitRateChanged(rate)) }
    }

    private var sendConditions: MediaRates.Conditions {
        MediaRates.Conditions(
            sendsVideo: lines.contains { $0.sendsVideo }, sendsAudio: lines.contains { $0.sendsAudio },
            fractionLost: lines.retransmittedVideoFractionLost, protectionOverhead: repair.overhead(of: lines),
            audioRepetitions: lines.audioRepetitions)
    }

    /// The next datagram to send, if any may leave now.
    public func pollTransmit(now: MonotonicInstant) -> Transmit? {
        if let control = control.poll() ?? transport?.pollTransmit() { return control }
        return isClosed ? nil : sending.poll(lines, now: now)
    }

    /// Ends the connection: RTCP BYE and the alert that closes the DTLS association are queued for
    /// `pollTransmit(now:)`, and nothing else is sent from here on.
    public func close(now: MonotonicInstant) {
        guard !isClosed else { return }
        sending.removeAll()
        control.removeAll()
        for line in lines { control.send([.bye(Goodbye(ssrcs: [line.negotiated.localSSRC]))], on: line, now: now) }
        transport?.close(now: now)
        isClosed = true
    }
}

extension NegotiatedMedia {
    /// The receive buffer of the stream.
    var jitterBuffer: JitterBuffer.Configuration {
        feedback.nack ? JitterBuffer.Configuration() : .withoutRetransmission
    }

    /// True if the remote side receives at the same addresses, as far as the descriptions tell.
    fileprivate func hasSameAddresses(as other: NegotiatedMedia) -> Bool {
        remoteRTPAddress == other.remoteRTPAddress && remoteRTCPAddress == other.remoteRTCPAddress
    }
}
