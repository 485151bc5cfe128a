import CongestionControl
import MediaCore
import NIOCore
import RTP
import SDP
import SecureTransport

/// Decides how much leaves for a remote endpoint, and when. It owns the congestion controller and its inputs, the
/// division of its target, the pacer, and the link's queue. It numbers and seals each packet when it leaves.
struct SendController: ~Copyable {
    private var controller: any CongestionController
    private(set) var decision: ControlDecision
    private(set) var rates: MediaRates
    private(set) var queue = LinkQueue()
    /// Padding borrows the newest frame's timestamp: there is none before the first.
    private var pacer = Pacer<OutgoingPacket>(canPad: false)
    private var feedback = TransportFeedbackAdapter()
    /// True if the remote side has sent feedback on single packets to the present controller.
    private(set) var hasFeedbackOnPackets = false
    /// The numbers of packets, if feedback names them by the numbers of their sources (RFC 8888).
    private var sentPacketNumbers = SentPacketNumbers()
    private var frameDelay = FrameDelayMeter()
    private let canPad: Bool
    /// The ratio of the pacing rate to the target while no feedback describes the path; nil with feedback.
    /// Without feedback the target is the configured rate, not a measured one. A keyframe paced at that rate would be
    /// late by its own length each time; as a burst, it fits into any queue of a path that carries the rate. The
    /// encoder's rate control keeps the target.
    private var unmeasuredPace: Double?
    private static let unmeasuredPace = 16.0
    /// The pace at which forwarded packets may leave at least: their sender has paced them already.
    private var forwardingRate = BitRate.zero
    private var meter = RateMeter()
    private(set) var counters = Counters()
    /// The waits of the frames that were shown, stage by stage, if they are known.
    private(set) var latency = LatencyLedger()
    /// The time that forwarded packets took through the relay.
    private(set) var forwardingLatency = LatencyHistogram()

    init(controller: any CongestionController, maximum: BitRate, canPad: Bool, now: MonotonicInstant) {
        self.controller = controller
        self.canPad = canPad
        rates = MediaRates(maximum: maximum)
        decision = self.controller.advance(now: now)
    }

    /// Goes on with another controller, which knows of nothing that was sent.
    mutating func replaceController(_ controller: any CongestionController, now: MonotonicInstant) {
        self.controller = controller
        self.controller.demandChanged(rates.demand, now: now)
        feedback.forgetSent()
        hasFeedbackOnPackets = false
        frameDelay = FrameDelayMeter()
    }

    // MARK: Decisions

    /// Advances the controller. Returns the changes for the encoders.
    mutating func advance(_ conditions: MediaRates.Conditions, now: MonotonicInstant) -> MediaRates.Changes {
        controller.senderQueueChanged(pacer.queuedSize, now: now)
        decision = controller.advance(now: now)
        // A controller that is always due has its turn at times that go forwards.
        if decision.nextWakeUp <= now { decision.nextWakeUp = now + .milliseconds(1) }
        queue.predicted = controller.predictedQueue ?? .zero
        return apply(conditions, now: now)
    }

    /// Applies the controller's last decision. Returns the changes for the encoders.
    mutating func apply(_ conditions: MediaRates.Conditions, now: MonotonicInstant) -> MediaRates.Changes {
        pacer.setRates(
            pacing: max(
                decision.pacingRate, forwardingRate, decision.targetBitRate * (unmeasuredPace ?? 0)),
            burst: decision.pacingBurst,
            padding: decision.paddingRate, now: now)
        holdIfFull()
        for probe in decision.newProbeClusters { pacer.addProbe(probe, now: now) }
        let (changes, videoShare) = rates.allocate(decision, conditions)
        queue.setRate(videoShare * (unmeasuredPace ?? 1), now: now)
        return changes
    }

    /// Reports the maximum to send to the controller and the allocator.
    ///
    /// - Parameter forwarded: The most that there is to send, if all of it is forwarded.
    mutating func demandChanged(
        _ session: NegotiatedSession, lines: MediaLines, forwarded: BitRate?, now: MonotonicInstant
    ) {
        let demand = rates.setMedia(
            of: session, requestedVideo: forwarded ?? lines.requestedVideoLimit,
            sendsVideo: lines.contains(where: \.sendsVideo))
        if let demand { controller.demandChanged(demand, now: now) }
        unmeasuredPace = session.describesPath ? nil : Self.unmeasuredPace
    }

    /// Forgets the packets of sources that no line has any more.
    mutating func endUnusedSources(of lines: MediaLines) {
        sentPacketNumbers.endSources { ssrc in lines.contains { $0.speaks(as: ssrc) } }
    }

    /// Changes the limits of the target. The demand has to be reported again.
    mutating func limitsChanged(_ limits: RateLimits, now: MonotonicInstant) {
        controller.limitsChanged(limits, now: now)
        rates.maximum = limits.maximum
    }

    /// Sets the minimum of the pacing rate, from the next decision on.
    mutating func setForwardingRate(_ rate: BitRate) { forwardingRate = rate }

    /// Packets wait while the controller's window is full.
    private mutating func holdIfFull() {
        pacer.isHeld = decision.congestionWindow.map { feedback.dataInFlight >= $0 } ?? false
    }

    /// The latest time to advance, or to poll for packets.
    func nextWakeUp(now: MonotonicInstant) -> MonotonicInstant {
        min(decision.nextWakeUp, pacer.nextSendTime(now: now) ?? .distantFuture)
    }

    // MARK: What the remote side tells

    /// Takes transport-wide feedback. Returns its report on arrivals, if any.
    mutating func received(_ packet: TransportFeedback, now: MonotonicInstant) -> TransportFeedbackReport? {
        take(feedback.handle(packet, now: now), now: now)
    }

    /// The same of feedback as of RFC 8888.
    mutating func received(_ packet: CongestionControlFeedback, now: MonotonicInstant) -> TransportFeedbackReport? {
        let report = feedback.handle(packet, now: now) { [sentPacketNumbers] ssrc, sequence in
            sentPacketNumbers.transportSequence(ssrc: ssrc, sequence: sequence)
        }
        return take(report, now: now)
    }

    private mutating func take(
        _ report: TransportFeedbackReport?, now: MonotonicInstant
    ) -> TransportFeedbackReport? {
        guard let report else { return nil }
        counters.transportFeedback &+= 1
        hasFeedbackOnPackets = true
        controller.feedbackReceived(report, now: now)
        return report
    }

    /// Takes the receiver's own estimate (REMB).
    mutating func received(estimate: BitRate, now: MonotonicInstant) {
        controller.remoteEstimateReceived(estimate, now: now)
    }

    /// Takes a report on one of our video streams.
    mutating func reported(_ statistics: SendStatistics, now: MonotonicInstant) {
        controller.receiverReportReceived(
            fractionLost: statistics.fractionLost, roundTripTime: statistics.roundTripTime, now: now)
    }

    /// The round-trip time that feedback on single packets shows.
    var roundTripTime: Duration? { feedback.roundTripTime }

    /// True if the path carries less than is sent, so that loss is no sign of a bad link.
    var isCongested: Bool {
        controller.snapshot.networkState == .overusing || pacer.expectedDrainTime > LatencyBudget.beforeFrame
    }

    var controllerSnapshot: ControllerSnapshot { controller.snapshot }

    // MARK: Room

    /// Returns true if a video frame should be encoded now: the pacer has room within its latency budget, the link
    /// within its debt, and the controller does not pause video.
    func hasRoomForFrame(now: MonotonicInstant) -> Bool {
        decision.videoPause == nil && queue.hasRoom(now: now)
            && pacer.queueDelay(now: now) < min(LatencyBudget.beforeFrame, decision.frameTimeout ?? .seconds(1))
    }

    /// Returns the backlog of the link, with additional data.
    func backlog(adding size: DataSize = .zero, now: MonotonicInstant) -> LinkBacklog {
        queue.backlog(adding: size, waiting: pacer.queueDelay(now: now), now: now)
    }

    /// Returns the wait of the oldest packet in the pacer.
    func queueDelay(now: MonotonicInstant) -> Duration { pacer.queueDelay(now: now) }

    /// The size of the packets that wait for the pacer.
    var queuedSize: DataSize { pacer.queuedSize }

    /// The rate at which media has left within the last second.
    mutating func sendRate(now: MonotonicInstant) -> BitRate { meter.rate(now: now) }

    // MARK: Sending

    /// Queues a frame.
    ///
    /// - Parameters:
    ///   - ledger: The waits of the picture, stage by stage.
    ///   - targetTime: The time at which the frame's target bitrate was read.
    mutating func send(
        frame packets: [RTPPacket], on line: MediaLine, ledger: PictureLedger?, targetTime: MonotonicInstant,
        now: MonotonicInstant
    ) {
        var first = ledger
        var size = DataSize.zero
        for packet in packets {
            let packetSize = OutgoingPacket.size(of: packet)
            pacer.enqueue(.media(packet, line: line, beginning: first), size: packetSize, priority: .video, now: now)
            size += packetSize
            first = nil
        }
        queue.spend(frame: size, now: now)
        if let delay = frameDelay.add(now - targetTime) { controller.frameDelayChanged(delay, now: now) }
        pacer.canPad = canPad
    }

    /// Queues a packet of audio; it leaves unpaced, ahead of everything else.
    mutating func send(audio packet: RTPPacket, on line: MediaLine, now: MonotonicInstant) {
        let size = OutgoingPacket.size(of: packet)
        pacer.enqueue(.media(packet, line: line, beginning: nil), size: size, priority: .audio, now: now)
    }

    /// Queues packets of forward error correction.
    mutating func send(repair packets: [RTPPacket], on line: MediaLine, now: MonotonicInstant) {
        for packet in packets {
            let size = OutgoingPacket.size(of: packet)
            queue.spend(size, now: now)
            pacer.enqueue(.repair(packet, line: line), size: size, priority: .repair, now: now)
        }
    }

    /// Sends missing packets again, as long as the path carries them in time: some, all that are kept, or none.
    mutating func resend(
        _ sequenceNumbers: [UInt16], on line: MediaLine, roundTripTime: Duration, now: MonotonicInstant
    ) -> (some: Bool, all: Bool) {
        var resends = false
        counters.nacks &+= UInt64(sequenceNumbers.count)
        for sequenceNumber in sequenceNumbers {
            let hasRoom = queue.hasRoomForRetransmission(waiting: pacer.expectedDrainTime, now: now)
            guard hasRoom else { return (resends, false) }
            let (packet, size): (OutgoingPacket, DataSize)
            switch line.videoSender?.resend(sequenceNumber, roundTripTime: roundTripTime, now: now) {
            case .retransmission(let original):
                (packet, size) = (.retransmission(original, line: line), OutgoingPacket.size(of: original))
            case .repetition(let datagram):
                (packet, size) = (.repetition(datagram, line: line), DataSize(bytes: datagram.readableBytes))
            case nil: continue
            }
            resends = true
            queue.spend(retransmission: size, now: now)
            pacer.enqueue(packet, size: size, priority: .retransmission, now: now)
        }
        return (resends, true)
    }

    /// Drops all that waits.
    mutating func removeAll() { _ = pacer.removeAll { _ in true } }

    // MARK: Another sender's packets

    /// Queues packets that another sender made.
    mutating func send(
        forwarded packets: [NumberedPacket], arrival: MonotonicInstant, on line: MediaLine, now: MonotonicInstant
    ) {
        for numbered in packets {
            let size = OutgoingPacket.size(of: numbered.packet)
            pacer.enqueue(
                .forwarded(numbered, line: line, arrival: arrival), size: size, priority: .video, now: now)
            queue.spend(size, now: now)
        }
    }

    /// Padding borrows the timestamp of a forwarded frame too.
    mutating func forwardingBegan() { pacer.canPad = true }

    /// Drops the packets that wait of the frames that follow the one that is leaving, or of that one, too. Returns the
    /// number behind the last packet that leaves.
    mutating func endForwarding(
        _ stream: ForwardingStream, on line: MediaLine, cutsFrame: Bool, now: MonotonicInstant
    ) -> Int64 {
        let end = max(cutsFrame ? stream.endOfSent : endOfLeavingFrame(of: stream, on: line), stream.leastEnd)
        var size = DataSize.zero
        _ = pacer.removeAll { waiting in
            guard let numbered = waiting.forwarded(on: line), numbered.number >= end else { return false }
            size += OutgoingPacket.size(of: numbered.packet)
            return true
        }
        // Packets that were not sent are not owed.
        queue.spend(.zero - size, now: now)
        return end
    }

    /// The number behind the last packet of the frame whose packets are leaving.
    private mutating func endOfLeavingFrame(of stream: ForwardingStream, on line: MediaLine) -> Int64 {
        let sent = stream.newestSent
        if let sent, sent.endsFrame { return sent.number + 1 }
        // The waiting packets can only be looked at on this way.
        var end = stream.numbering.next
        _ = pacer.removeAll { waiting in
            if let next = waiting.forwarded(on: line), next.packet.marker, next.number > sent?.number ?? .min {
                end = min(end, next.number + 1)
            }
            return false
        }
        return end
    }

    // MARK: What leaves

    /// The next datagram to send, if any may leave now.
    mutating func poll(_ lines: MediaLines, now: MonotonicInstant) -> PeerConnection.Transmit? {
        while let (packet, probeClusterID) = pacer.dequeue(now: now) {
            if let transmit = finish(packet, probeClusterID: probeClusterID, now: now) { return transmit }
        }
        guard pacer.paddingNeeded(now: now) > .zero else { return nil }
        guard let (packet, line) = makePadding(lines) else {
            // No line sends video any more. Until the next frame there is nothing to wake up for.
            pacer.canPad = false
            return nil
        }
        pacer.enqueue(
            packet.ssrc == line.negotiated.localSSRC
                ? .media(packet, line: line, beginning: nil) : .retransmission(packet, line: line),
            size: DataSize(bytes: Int(packet.paddingLength)) + PeerConfiguration.packetOverhead,
            priority: .padding, now: now)
        guard let (packet, probeClusterID) = pacer.dequeue(now: now) else { return nil }
        return finish(packet, probeClusterID: probeClusterID, now: now)
    }

    private func makePadding(_ lines: MediaLines) -> (packet: RTPPacket, line: MediaLine)? {
        for line in lines where line.sendsVideo {
            if let packet = line.videoSender?.makePadding() { return (packet, line) }
        }
        return nil
    }

    /// Seals and remembers a packet that the pacer released.
    private mutating func finish(
        _ outgoing: OutgoingPacket, probeClusterID: Int?, now: MonotonicInstant
    ) -> PeerConnection.Transmit? {
        switch outgoing {
        case .forwarded(var numbered, let line, let arrival):
            guard let transmit = seal(&numbered.packet, line: line, probeClusterID: probeClusterID, now: now) else {
                return nil
            }
            forwardingLatency.observe(now - arrival)
            line.videoSender?.sent(numbered, datagram: transmit.datagram, now: now)
            protect(numbered.packet, line: line, now: now)
            return transmit
        case .repetition(let datagram, let line):
            guard let path = line.rtpPath else { return nil }
            counters.retransmissions &+= 1
            meter.add(DataSize(bytes: datagram.readableBytes), now: now)
            return PeerConnection.Transmit(datagram: datagram, path: path)
        case .retransmission(var packet, let line):
            if packet.payload.readableBytes > 0 { counters.retransmissions &+= 1 }
            return seal(&packet, line: line, probeClusterID: probeClusterID, now: now)
        case .repair(var packet, let line):
            counters.flexFECPackets &+= 1
            return seal(&packet, line: line, probeClusterID: probeClusterID, now: now)
        case .media(var packet, let line, let picture):
            guard let transmit = seal(&packet, line: line, probeClusterID: probeClusterID, now: now) else { return nil }
            if let picture { latency.observe(picture, now: now) }
            line.videoSender?.sent(packet, datagram: transmit.datagram, now: now)
            protect(packet, line: line, now: now)
            return transmit
        }
    }

    /// Queues forward error correction that is complete with a packet that leaves.
    private mutating func protect(_ packet: RTPPacket, line: MediaLine, now: MonotonicInstant) {
        send(repair: line.videoSender?.protect(packet, now: now) ?? [], on: line, now: now)
    }

    /// Numbers a packet for feedback, and protects it.
    private mutating func seal(
        _ packet: inout RTPPacket, line: MediaLine, probeClusterID: Int?, now: MonotonicInstant
    ) -> PeerConnection.Transmit? {
        // A packet that waited while an offer gave the line to another stream must not leave under that stream's name.
        guard line.speaks(as: packet.ssrc), let path = line.rtpPath, let keys = line.keys else { return nil }
        line.setExtensions(of: &packet, now: now)
        let header = line.header
        if header.outboundTransportSequence != nil || header.usesCongestionControlFeedback {
            let size = DataSize(bytes: packet.encodedSize) + keys.outboundTrailerSize
            let (sequence, sent) = feedback.packetSent(size: size, probeClusterID: probeClusterID, now: now)
            controller.packetSent(sent, now: now)
            holdIfFull()
            if let id = header.outboundTransportSequence {
                packet.extensions.setTransportSequenceNumber(sequence, id: id)
            } else {
                sentPacketNumbers.add(ssrc: packet.ssrc, sequence: packet.sequenceNumber, transportSequence: sequence)
            }
        }
        var datagram = packet.encode()
        do {
            try keys.outbound.protect(rtp: &datagram)
        } catch {
            counters.protectFailures &+= 1
            return nil
        }
        counters.packets &+= 1
        meter.add(DataSize(bytes: datagram.readableBytes), now: now)
        return PeerConnection.Transmit(datagram: datagram, path: path)
    }
}
