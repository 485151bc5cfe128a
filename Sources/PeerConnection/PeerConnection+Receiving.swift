import CongestionControl
public import MediaCore
public import NIOCore
public import RTP
import SDP
public import SecureTransport

extension PeerConnection {
    /// Takes a datagram that may be for this session. Never traps, whatever it holds; only a packet that authenticates
    /// changes anything.
    ///
    /// - Parameters:
    ///   - arrival: When it came, where that was before it was read.
    ///   - ecn: How the network marked it.
    ///   - mayLatch: Whether an authentic packet may make its source the address to send to, where ICE does not find
    ///     it.
    public func receive(
        _ datagram: consuming ByteBuffer, from source: TransportAddress, arrival: MonotonicInstant? = nil,
        ecn: ECNCodepoint = .notCapable, mayLatch: Bool = true, now: MonotonicInstant
    ) -> ReceiveOutcome {
        guard !isClosed else { return .unknown }
        switch DatagramKind.classify(datagram) {
        case .rtp:
            return receiveRTP(datagram, from: source, arrival: arrival ?? now, ecn: ecn, mayLatch: mayLatch, now: now)
        case .rtcp: return receiveRTCP(datagram, from: source, mayLatch: mayLatch, now: now)
        case .stun: return receiveSTUN(datagram, from: source, now: now)
        case .dtls: return receiveDTLS(datagram, from: source, now: now)
        case .turnChannel, .unknown: return .unknown
        }
    }

    /// Whether an SSRC was announced for this session or has authenticated on it.
    func knows(ssrc: UInt32) -> Bool {
        lines.contains { $0.knownSSRCs.contains(ssrc) }
    }

    // MARK: RTP

    private func receiveRTP(
        _ datagram: consuming ByteBuffer, from source: TransportAddress, arrival: MonotonicInstant,
        ecn: ECNCodepoint, mayLatch: Bool, now: MonotonicInstant
    ) -> ReceiveOutcome {
        let size = DataSize(bytes: datagram.readableBytes)
        guard let typeByte = datagram.getInteger(at: datagram.readerIndex + 1, as: UInt8.self),
            let ssrc = datagram.getInteger(at: datagram.readerIndex + 8, as: UInt32.self)
        else { return .malformed }
        guard var line = receivingLine(payloadType: typeByte & 0x7f, ssrc: ssrc, datagram: copy datagram),
            let keys = lines[line].keys
        else { return .unknown }
        do {
            try keys.inbound.unprotect(rtp: &datagram)
        } catch {
            counters.count(error)
            return .unauthenticated
        }
        guard let packet = try? RTPPacket(parsing: copy datagram) else {
            counters.malformedPackets &+= 1
            return .malformed
        }
        if let named = namedLine(packet.extensions), named != line, session.isBundled {
            // A source moves to another line when the remote side says so (RFC 8843 9.2).
            guard lines[named].takes(payloadType: packet.payloadType) else { return .unknown }
            lines[line].forget(ssrc: ssrc)
            line = named
        }
        if mayLatch { latch(line: line, rtp: packet, from: source) }
        congestionFeedbackRecorder?.received(
            ssrc: packet.ssrc, sequence: packet.sequenceNumber, ecn: ecn, isLastOfFrame: packet.marker, now: now)
        receive(packet, datagram: datagram, line: line, size: size, from: source, arrival: arrival, now: now)
        return .accepted
    }

    /// The line whose packet this is (RFC 8843 9.2): the one that knows the SSRC, else the one that the packet names,
    /// else the one with the payload type. Without BUNDLE two lines may use one payload type, each with its own keys:
    /// then the first whose keys fit.
    private func receivingLine(payloadType: UInt8, ssrc: UInt32, datagram: ByteBuffer) -> Int? {
        for index in lines.indices
        where lines[index].takes(payloadType: payloadType) && lines[index].knownSSRCs.contains(ssrc) {
            return index
        }
        if let extensions = RTPHeaderExtensions(ofPacket: datagram), let named = namedLine(extensions) {
            return lines[named].takes(payloadType: payloadType) ? named : nil
        }
        var fitting: Int?
        for index in lines.indices where lines[index].takes(payloadType: payloadType) {
            if let first = fitting, !authenticates(datagram, line: first) { fitting = nil }
            fitting = fitting ?? index
        }
        return fitting
    }

    private func namedLine(_ extensions: RTPHeaderExtensions) -> Int? {
        guard !extensions.isEmpty else { return nil }
        for index in lines.indices where lines[index].isNamed(by: extensions) { return index }
        return nil
    }

    /// Whether a line's keys fit a packet whose SSRC is new. A fresh context is asked, so that the packet does not
    /// count as a replay when it is then taken.
    private func authenticates(_ datagram: consuming ByteBuffer, line: Int) -> Bool {
        guard let keys = lines[line].negotiated.keys?.inbound,
            let trial = try? SRTPContext(keys: keys, direction: .inbound)
        else { return true }
        return (try? trial.unprotect(rtp: &datagram)) != nil
    }

    private func receive(
        _ packet: RTPPacket, datagram: ByteBuffer, line: Int, size: DataSize, from source: TransportAddress,
        arrival: MonotonicInstant, now: MonotonicInstant
    ) {
        lines[line].remember(ssrc: packet.ssrc)
        lines[line].lastRTP = now
        heard(from: source, now: now)
        counters.packetsReceived &+= 1
        receiveMeter.add(size, now: now)
        if let id = lines[line].header.inboundTransportSequence,
            let sequence = packet.extensions.transportSequenceNumber(id: id)
        {
            feedbackRecorder?.received(transportSequence: sequence, arrival: arrival, now: now)
        }
        if let receiver = lines[line].videoReceiver {
            receiver.insert(packet, datagram: datagram, size: size, now: now) { events.append(.videoPacket($0)) }
            deliverVideo(from: receiver, now: now)
            sendDueFeedback(now: now)
        } else {
            let level = lines[line].header.inboundAudioLevel.flatMap { packet.extensions.audioLevel(id: $0) }
            lines[line].audioReceiver?.insert(packet, level: level, size: size, now: now) {
                events.append(.audioPacket($0))
            }
        }
    }

    /// Media goes to where the newest authentic packet came from: a client may change its address at any time.
    private func latch(line: Int, rtp packet: RTPPacket, from source: TransportAddress) {
        guard transport == nil,
            lines[line].isNewest(ssrc: packet.ssrc, sequenceNumber: packet.sequenceNumber),
            lines[line].rtpDestination != source
        else { return }
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

    /// An authentic packet came: the remote side is there.
    private func heard(from source: TransportAddress, now: MonotonicInstant) {
        authenticated(now: now)
        recordProved(source)
        guard transport != nil else { return }
        transport?.recordLiveness(from: source, now: now)
        if transport?.state != .connected { followTransport(now: now) }
    }

    // MARK: RTCP

    private func receiveRTCP(
        _ datagram: consuming ByteBuffer, from source: TransportAddress, mayLatch: Bool, now: MonotonicInstant
    ) -> ReceiveOutcome {
        guard let ssrc = datagram.getInteger(at: datagram.readerIndex + 4, as: UInt32.self) else { return .malformed }
        let size = DataSize(bytes: datagram.readableBytes)
        for line in linesToTry(ssrc: ssrc) {
            guard let keys = lines[line].keys else { continue }
            var attempt = copy datagram
            do {
                try keys.inbound.unprotect(rtcp: &attempt)
            } catch {
                counters.count(error)
                continue
            }
            guard let packets = try? RTCPPacket.parse(compound: attempt) else {
                counters.malformedPackets &+= 1
                return .malformed
            }
            lines[line].remember(ssrc: ssrc)
            if transport != nil || !mayLatch {
                // ICE tells where to send, or the address is another's.
            } else if lines[line].negotiated.rtcpMux {
                // Who sends no RTP, by role or for the time being, is known by RTCP alone.
                if lines[line].rtpDestination == nil || !isHearingRTP(line: line, now: now) {
                    setDestination(source, line: line)
                }
            } else {
                lines[line].rtcpDestination = source
            }
            heard(from: source, now: now)
            receiveMeter.add(size, now: now)
            handle(packets, line: line, now: now)
            return .accepted
        }
        return .unauthenticated
    }

    /// The lines under whose keys an RTCP packet may be: of those that share a context, one.
    private func linesToTry(ssrc: UInt32) -> [Int] {
        let known = lines.indices.filter { lines[$0].knownSSRCs.contains(ssrc) }
        let candidates = known.isEmpty ? Array(lines.indices) : known
        return candidates.filter { index in
            !candidates.contains { $0 < index && lines[$0].keys?.inbound === lines[index].keys?.inbound }
        }
    }
}
