public import MediaCore
public import NIOCore
public import RTP
import SDP
public import SecureTransport

extension PeerConnection {
    /// Takes a datagram that may belong to this session. It never traps, whatever the datagram holds; only an authentic
    /// packet changes anything.
    ///
    /// - Parameters:
    ///   - local: Our address at which it arrived, from which answers leave; nil if the socket has one.
    ///   - arrival: The arrival, if it was before the read.
    ///   - ecn: The network's mark.
    ///   - mayLatch: True if an authentic packet may make its source the address to send to, without ICE.
    public func receive(
        _ datagram: consuming ByteBuffer, from source: TransportAddress, at local: TransportAddress? = nil,
        arrival: MonotonicInstant? = nil, ecn: ECNCodepoint = .notCapable, mayLatch: Bool = true,
        now: MonotonicInstant
    ) -> ReceiveOutcome {
        guard !isClosed else { return .unknown }
        let path = NetworkPath(remote: source, local: local)
        do throws(MediaRouter.Refusal) {
            switch DatagramKind.classify(datagram) {
            case .rtp:
                lines.endForgottenSources(now: now)
                try receiveRTP(
                    datagram, on: path, arrival: arrival ?? now, ecn: ecn, mayLatch: mayLatch, now: now)
            case .rtcp:
                lines.endForgottenSources(now: now)
                try receiveRTCP(datagram, on: path, mayLatch: mayLatch, now: now)
            case .stun: return receiveSTUN(datagram, on: path, now: now)
            case .dtls: return receiveDTLS(datagram, from: source, now: now)
            case .turnChannel, .unknown: return .unknown
            }
            return .accepted
        } catch {
            return error.outcome
        }
    }

    private func receiveRTP(
        _ datagram: consuming ByteBuffer, on path: NetworkPath, arrival: MonotonicInstant,
        ecn: ECNCodepoint, mayLatch: Bool, now: MonotonicInstant
    ) throws(MediaRouter.Refusal) {
        let size = DataSize(bytes: datagram.readableBytes)
        let (packet, line) = try router.route(rtp: &datagram, among: lines, isBundled: session.isBundled)
        if mayLatch, transport == nil {
            MediaRouter.latch(line, by: packet, on: path, among: lines, isBundled: session.isBundled)
        }
        feedback.received(packet, ecn: ecn, now: now)
        let transportSequence = line.received(packet, now: now)
        heard(from: path.remote, now: now)
        router.accepted()
        feedback.received(size, now: now)
        if let transportSequence {
            feedback.received(transportSequence: transportSequence, arrival: arrival, now: now)
        }
        if let receiver = line.videoReceiver {
            receiver.insert(packet, datagram: datagram, size: size, now: now) { emit(.videoPacket($0)) }
            deliverVideo(of: line, now: now)
            sendDueFeedback(now: now)
        } else {
            let level = line.header.inboundAudioLevel.flatMap { packet.extensions.audioLevel(id: $0) }
            line.audioReceiver?.insert(packet, level: level, size: size, now: now) { emit(.audioPacket($0)) }
        }
    }

    private func receiveRTCP(
        _ datagram: ByteBuffer, on path: NetworkPath, mayLatch: Bool, now: MonotonicInstant
    ) throws(MediaRouter.Refusal) {
        let (packets, line) = try router.route(rtcp: datagram, among: lines)
        // ICE tells where to send, or the address is another's.
        if mayLatch, transport == nil {
            MediaRouter.latch(
                line, byControlOn: path, among: lines, isBundled: session.isBundled, now: now)
        }
        heard(from: path.remote, now: now)
        feedback.received(DataSize(bytes: datagram.readableBytes), now: now)
        handle(packets, line: line, now: now)
    }

    /// Takes an authentic packet, which shows that the remote side is there.
    private func heard(from source: TransportAddress, now: MonotonicInstant) {
        authenticated(now: now)
        guard let transport else {
            presence.proved(source)
            return
        }
        transport.recordLiveness(from: source, now: now)
        if transport.state != .connected { followTransport(now: now) }
    }

    func authenticated(now: MonotonicInstant) {
        if presence.authenticated(now: now) { setPaused(false) }
    }
}
