public import MediaCore
import NIOCore
public import SecureTransport

extension PeerConnection {
    /// How the path to the remote side is. Where the descriptions carry addresses and keys it is connected, or
    /// reconnecting while nothing is sent because the remote side is silent.
    public var connectionState: ConnectionState {
        transport?.state ?? (isPausedForSilence ? .reconnecting : .connected)
    }

    /// Where datagrams go, where ICE found it; nil while there is no consent to send anywhere.
    public var selectedAddress: TransportAddress? { transport?.selectedAddress }

    /// Whether the remote side has shown that it has the keys: by a DTLS handshake, or by a packet that authenticated
    /// where the descriptions carry the keys.
    package var hasProvedKeys: Bool { transport?.hasKeys ?? (lastAuthenticated != nil) }

    /// Whether a ClientHello would begin a DTLS handshake.
    package var awaitsHandshake: Bool { transport?.awaitsHandshake ?? false }

    /// Whether a DTLS handshake is under way.
    package var isHandshaking: Bool { transport?.isHandshaking ?? false }

    /// Our own network has changed: the path is checked at once, instead of with the next check of consent.
    public func networkChanged(now: MonotonicInstant) {
        transport?.networkChanged(now: now)
        followTransport(now: now)
    }

    func receiveSTUN(
        _ datagram: ByteBuffer, from source: TransportAddress, now: MonotonicInstant
    ) -> ReceiveOutcome {
        guard let (outcome, response) = transport?.receive(stun: datagram, from: source, now: now) else {
            return .unknown
        }
        if let response { controlDatagrams.append(Transmit(datagram: response, destination: source)) }
        return taken(outcome, now: now)
    }

    func receiveDTLS(
        _ datagram: ByteBuffer, from source: TransportAddress, now: MonotonicInstant
    ) -> ReceiveOutcome {
        guard let outcome = transport?.receive(dtls: datagram, from: source, now: now) else { return .unknown }
        return taken(outcome, now: now)
    }

    private func taken(_ outcome: PeerTransport.Outcome, now: MonotonicInstant) -> ReceiveOutcome {
        followTransport(now: now)
        switch outcome {
        case .accepted:
            authenticated(now: now)
            return .accepted
        case .unauthenticated: return .unauthenticated
        case .malformed: return .malformed
        case .ignored: return .unknown
        }
    }

    /// Takes over what has become of the transport: keys, where to send, and how the path is.
    func followTransport(now: MonotonicInstant) {
        guard transport != nil else { return }
        while let event = transport?.pollEvent(now: now) {
            switch event {
            case .established(let keys): use(keys)
            case .stateChanged(let state): events.append(.connectionStateChanged(state))
            case .closed: events.append(.goodbye)
            }
        }
        let destination = transport?.selectedAddress
        guard destination != lines.first?.rtpDestination else { return }
        for line in lines.indices {
            lines[line].rtpDestination = destination
            lines[line].rtcpDestination = destination
        }
    }

    private func use(_ pair: SRTPKeyPair) {
        // The library takes every key of the right length; without memory for a context nothing can be sent or read.
        guard let keys = try? MediaLine.Keys(pair) else { return }
        for line in lines.indices { lines[line].keys = keys }
    }
}
