public import MediaCore
import NIOCore
public import SecureTransport

extension PeerConnection {
    /// The state of the path to the remote side. With addresses and keys in the descriptions it is connected, or
    /// reconnecting while nothing is sent because the remote side is silent.
    public var connectionState: ConnectionState {
        transport?.state ?? (presence.isPaused ? .reconnecting : .connected)
    }

    /// The address of datagrams, if ICE found it; nil without consent to send.
    public var selectedAddress: TransportAddress? { transport?.selectedAddress }

    /// True if the remote side has proved that it has the keys: by a DTLS handshake, or by an authentic packet if the
    /// descriptions carry the keys.
    package var hasProvedKeys: Bool { transport?.hasKeys ?? (presence.lastAuthenticated != nil) }

    /// The arrival of the last authenticated packet; nil before the first.
    public var lastAuthenticated: MonotonicInstant? { presence.lastAuthenticated }

    /// True if a ClientHello would begin a DTLS handshake.
    package var awaitsHandshake: Bool { transport?.awaitsHandshake ?? false }

    /// True during a DTLS handshake.
    package var isHandshaking: Bool { transport?.isHandshaking ?? false }

    /// Our own network has changed: the path is checked at once, instead of with the next check of consent.
    public func networkChanged(now: MonotonicInstant) {
        transport?.networkChanged(now: now)
        followTransport(now: now)
    }

    /// Records that the system cannot send on a path: its local address or the route is gone.
    package func sendingFailed(on path: NetworkPath, now: MonotonicInstant) {
        transport?.sendingFailed(on: path, now: now)
        followTransport(now: now)
    }

    func receiveSTUN(
        _ datagram: ByteBuffer, on path: NetworkPath, now: MonotonicInstant
    ) -> ReceiveOutcome {
        guard let (outcome, response) = transport?.receive(stun: datagram, on: path, now: now) else {
            return .unknown
        }
        if let response { control.send(response, on: path) }
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

    /// Updates keys, addresses and the path's state from the transport.
    func followTransport(now: MonotonicInstant) {
        guard let transport else { return }
        while let event = transport.pollEvent(now: now) {
            switch event {
            case .established(let pair):
                // The library takes every key of the right length; without memory for a context nothing can be sent
                // or read.
                let count = configuration.maximumSourceCount
                guard let keys = try? MediaLine.Keys(pair, maximumSourceCount: count) else { continue }
                for line in lines { line.use(keys) }
            case .stateChanged(let state): emit(.connectionStateChanged(state))
            case .closed: emit(.goodbye)
            }
        }
        let path = transport.selectedPath
        guard path != lines.first?.rtpPath else { return }
        for line in lines { line.follow(path) }
    }

    // MARK: Addresses that the descriptions carry

    /// True if nothing is sent, because the remote side has been silent for the configured limit.
    package var isPausedForSilence: Bool { presence.isPaused }

    func setPaused(_ isPaused: Bool) {
        for line in lines { line.setPaused(isPaused) }
        emit(.connectionStateChanged(isPaused ? .reconnecting : .connected))
    }

    /// Returns true if packets of the remote side have authenticated from this address lately, and media is sent there.
    package func occupies(_ address: TransportAddress, now: MonotonicInstant) -> Bool {
        if let transport {
            return transport.hasKeys && transport.state == .connected && transport.selectedAddress == address.unmapped
        }
        return presence.hasProvedLately(address, now: now) && isDestination(address)
    }

    /// Returns true if RTP or RTCP goes to this address.
    package func isDestination(_ address: TransportAddress) -> Bool {
        lines.contains { $0.rtpPath?.remote == address || $0.rtcpPath?.remote == address }
    }
}
