public import MediaCore
public import NIOCore
public import SecureTransport

extension Relay {
    /// Takes a datagram from the socket. Whatever it holds, it disturbs nobody but whoever can authenticate it.
    ///
    /// - Parameter arrival: When it came, where that was before it was read.
    public func receive(
        _ datagram: consuming ByteBuffer, from source: TransportAddress, arrival: MonotonicInstant? = nil,
        now: MonotonicInstant
    ) {
        let arrival = arrival ?? now
        let kind = DatagramKind.classify(datagram)
        switch kind {
        case .rtp: receiveMedia(datagram, ssrcOffset: 8, from: source, arrival: arrival, now: now)
        case .rtcp: receiveMedia(datagram, ssrcOffset: 4, from: source, arrival: arrival, now: now)
        case .stun: receiveCheck(datagram, from: source, now: now)
        case .dtls: receiveHandshake(datagram, from: source, now: now)
        case .turnChannel, .unknown: datagrams.malformed &+= 1
        }
    }

    // MARK: Paths

    /// Takes a connectivity check. Which session it is for stands in its user name; who sent it is proved there.
    private func receiveCheck(_ datagram: ByteBuffer, from source: TransportAddress, now: MonotonicInstant) {
        guard let fragment = STUNMessage.localUsernameFragment(of: datagram),
            let participant = paths.participant(usernameFragment: fragment)
        else {
            datagrams.checksRefused &+= 1
            return
        }
        // A check from an address in use validates nothing: else what is sent to this participant would go there.
        guard !isTaken(source, from: participant, now: now) else {
            datagrams.checksRefused &+= 1
            return
        }
        guard participant.peer.receive(datagram, from: source, now: now) == .accepted else {
            datagrams.checksRefused &+= 1
            service(participant, now: now)
            return
        }
        datagrams.checks &+= 1
        paths.checked(participant, source: source)
        service(participant, now: now)
    }

    /// Takes a datagram of a DTLS association: only from addresses that passed a check, and handshakes a few at a time.
    private func receiveHandshake(_ datagram: ByteBuffer, from source: TransportAddress, now: MonotonicInstant) {
        // Where one address stands for several sessions, a client has come anew: its old session takes nothing any more,
        // and the one whose handshake is still to come is meant.
        let owners = paths.owners(of: source)
        guard let owner = owners.last(where: { $0.peer.awaitsHandshake || $0.peer.isHandshaking }) ?? owners.last else {
            datagrams.handshakesRefused &+= 1
            return
        }
        guard !owner.peer.awaitsHandshake || handshakes.admit(owner.id, from: source) else {
            datagrams.handshakesRefused &+= 1
            return
        }
        let outcome = owner.peer.receive(datagram, from: source, now: now)
        if !owner.peer.isHandshaking { handshakes.release(owner.id) }
        if outcome == .accepted {
            datagrams.handshakes &+= 1
        } else {
            datagrams.handshakesRefused &+= 1
        }
        service(owner, now: now)
    }

    // MARK: Media

    private func receiveMedia(
        _ datagram: consuming ByteBuffer, ssrcOffset: Int, from source: TransportAddress,
        arrival: MonotonicInstant, now: MonotonicInstant
    ) {
        let offset = datagram.readerIndex + ssrcOffset
        guard let ssrc = datagram.getInteger(at: offset, as: UInt32.self) else {
            datagrams.malformed &+= 1
            return
        }
        let owners = paths.owners(of: source)
        if owners.count == 1, demultiplexer.isEmpty {
            // Nobody else's: the packet is decrypted where it lies.
            let outcome = owners[0].peer.receive(datagram, from: source, arrival: arrival, now: now)
            count(outcome)
            if outcome == .accepted { service(owners[0], now: now) }
            return
        }
        var best = PeerConnection.ReceiveOutcome.unknown
        for participant in owners.reversed() {
            let outcome = participant.peer.receive(copy datagram, from: source, arrival: arrival, now: now)
            if outcome == .accepted || outcome == .malformed {
                count(outcome)
                service(participant, now: now)
                return
            }
            if outcome == .unauthenticated { best = outcome }
        }
        let owner = demultiplexer.route(ssrc: ssrc, source: source)
        if let owner {
            best = deliver(copy datagram, to: owner, ssrc: ssrc, from: source, arrival: arrival, now: now)
            guard best == .unauthenticated else {
                count(best)
                return
            }
            // A client that ended and joined anew may use the same port and SSRC with new keys.
        }
        let candidates = demultiplexer.candidates(ssrc: ssrc, excluding: owner, now: now)
        for candidate in candidates {
            let outcome = deliver(copy datagram, to: candidate, ssrc: ssrc, from: source, arrival: arrival, now: now)
            if outcome == .accepted || outcome == .malformed {
                count(outcome)
                return
            }
            if outcome == .unauthenticated { best = .unauthenticated }
        }
        count(best)
    }

    private func deliver(
        _ datagram: consuming ByteBuffer, to participant: Participant, ssrc: UInt32, from source: TransportAddress,
        arrival: MonotonicInstant, now: MonotonicInstant
    ) -> PeerConnection.ReceiveOutcome {
        let mayLatch = participant.peer.isDestination(source) || !isTaken(source, from: participant, now: now)
        let outcome = participant.peer.receive(
            datagram, from: source, arrival: arrival, mayLatch: mayLatch, now: now)
        if outcome == .accepted {
            demultiplexer.authenticated(participant, ssrc: ssrc, source: source, now: now)
            service(participant, now: now)
        }
        return outcome
    }

    /// Whether an authenticated path of another participant uses this address now.
    func isTaken(_ address: TransportAddress, from participant: Participant?, now: MonotonicInstant) -> Bool {
        if let owner = demultiplexer.owner(of: address), owner !== participant, owner.peer.occupies(address, now: now) {
            return true
        }
        return paths.owners(of: address).contains {
            $0 !== participant && $0.peer.occupies(address, now: now)
        }
    }

    private func count(_ outcome: PeerConnection.ReceiveOutcome) {
        switch outcome {
        case .accepted: datagrams.accepted &+= 1
        case .malformed: datagrams.malformed &+= 1
        case .unauthenticated: datagrams.unauthenticated &+= 1
        case .unknown: datagrams.unknown &+= 1
        }
    }
}
