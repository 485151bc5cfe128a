public import MediaCore
public import NIOCore
import PeerConnection
public import SecureTransport

extension Relay {
    /// Takes a datagram from the socket. Garbage disturbs nobody but participants who can authenticate it.
    ///
    /// - Parameters:
    ///   - local: Our address at which it arrived, from which answers leave; nil if the socket has one.
    ///   - arrival: The time of arrival, if it was before the read.
    public func receive(
        _ datagram: consuming ByteBuffer, from source: TransportAddress, at local: TransportAddress? = nil,
        arrival: MonotonicInstant? = nil, now: MonotonicInstant
    ) {
        let arrival = arrival ?? now
        let path = NetworkPath(remote: source, local: local)
        let kind = DatagramKind.classify(datagram)
        switch kind {
        case .rtp: receiveMedia(datagram, isControl: false, on: path, arrival: arrival, now: now)
        case .rtcp: receiveMedia(datagram, isControl: true, on: path, arrival: arrival, now: now)
        case .stun: receiveCheck(datagram, on: path, now: now)
        case .dtls: receiveHandshake(datagram, from: source, now: now)
        case .turnChannel, .unknown: datagrams.malformed &+= 1
        }
    }

    // MARK: Paths

    /// Takes a connectivity check. Its user name names the session; its signature proves the sender.
    private func receiveCheck(_ datagram: ByteBuffer, on path: NetworkPath, now: MonotonicInstant) {
        let source = path.remote
        guard let fragment = STUNMessage.localUsernameFragment(of: datagram) else {
            receiveCheckAnswer(datagram, from: source, now: now)
            return
        }
        guard let participant = paths.endpoint(usernameFragment: fragment) else {
            datagrams.checksRefused &+= 1
            return
        }
        // A check from an address in use validates nothing: otherwise this participant's media would go there.
        guard !isTaken(source, from: participant, now: now), participant.limiter.hasRoomForCheck(now: now) else {
            datagrams.checksRefused &+= 1
            return
        }
        let outcome = participant.peer.receive(datagram, from: source, at: path.local, now: now)
        // A refusal of an authentic check is signed as an answer is.
        if outcome == .accepted || outcome == .unknown { participant.limiter.chargeCheck(now: now) }
        guard outcome == .accepted else {
            datagrams.checksRefused &+= 1
            if outcome == .unauthenticated { notices.recordFailure(from: source) }
            service(participant, now: now)
            return
        }
        datagrams.checks &+= 1
        paths.confirmed(fragment, of: participant)
        paths.checked(participant, source: source)
        service(participant, now: now)
    }

    /// Takes the answer to a check of a link that this relay began. Only the link that made the check knows its number.
    private func receiveCheckAnswer(_ datagram: ByteBuffer, from source: TransportAddress, now: MonotonicInstant) {
        for link in paths.owners(of: source) where link is CascadeLink {
            guard link.peer.receive(datagram, from: source, now: now) == .accepted else { continue }
            datagrams.checks &+= 1
            service(link, now: now)
            return
        }
        datagrams.checksRefused &+= 1
    }

    /// Takes a datagram of a DTLS association: only from addresses that passed a check, and handshakes a few at a time.
    private func receiveHandshake(_ datagram: ByteBuffer, from source: TransportAddress, now: MonotonicInstant) {
        // If one address stands for several sessions, a client has joined again: its old session receives nothing any
        // more, and the session without a handshake is meant.
        let owners = paths.owners(of: source)
        let beginner = owners.last { $0.peer.awaitsHandshake || $0.peer.isHandshaking }
        guard let owner = beginner ?? owners.last else {
            datagrams.handshakesRefused &+= 1
            return
        }
        if beginner == nil, owner is CascadeLink {
            receiveRecords(datagram, owners: owners, from: source, now: now)
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

    /// Takes a datagram of an association that stands, from a relay with several links: it is a last flight that comes
    /// again, or the end of a link. Each association ignores records that are not its own.
    private func receiveRecords(
        _ datagram: ByteBuffer, owners: [Endpoint], from source: TransportAddress, now: MonotonicInstant
    ) {
        var isAccepted = false
        for link in owners where link is CascadeLink {
            guard link.peer.receive(datagram, from: source, now: now) == .accepted else { continue }
            isAccepted = true
            service(link, now: now)
        }
        if isAccepted {
            datagrams.handshakes &+= 1
        } else {
            datagrams.handshakesRefused &+= 1
        }
    }

    /// Records that the system cannot send on a path, since a network interface or a route is gone: those who use it
    /// get media on another path that they have checked, if there is one.
    public func sendingFailed(on path: NetworkPath, now: MonotonicInstant) {
        for endpoint in paths.owners(of: path.remote) {
            endpoint.peer.sendingFailed(on: path, now: now)
            service(endpoint, now: now)
        }
    }

    // MARK: Media

    /// An RTP or RTCP packet on its way to its owner.
    private struct MediaDatagram {
        var payload: ByteBuffer
        var ssrc: UInt32
        var isControl: Bool
        var size: DataSize
        var path: NetworkPath
        var arrival: MonotonicInstant

        var source: TransportAddress { path.remote }
    }

    private func receiveMedia(
        _ payload: consuming ByteBuffer, isControl: Bool, on path: NetworkPath, arrival: MonotonicInstant,
        now: MonotonicInstant
    ) {
        let offset = payload.readerIndex + (isControl ? 4 : 8)
        guard let ssrc = payload.getInteger(at: offset, as: UInt32.self) else {
            datagrams.malformed &+= 1
            return
        }
        let size = DataSize(bytes: payload.readableBytes)
        let owners = paths.owners(of: path.remote)
        if owners.count == 1, demultiplexer.isEmpty {
            // There is no other owner, so the packet is decrypted in place.
            guard owners[0].limiter.hasRoom(size, isControl: isControl, now: now) else {
                dropOverLimit(of: owners[0])
                return
            }
            let outcome = owners[0].peer.receive(
                payload, from: path.remote, at: path.local, arrival: arrival, now: now)
            taken(outcome, by: owners[0], size, isControl: isControl, now: now)
            count(outcome, from: path.remote)
            if outcome == .accepted { service(owners[0], now: now) }
            return
        }
        let datagram = MediaDatagram(
            payload: payload, ssrc: ssrc, isControl: isControl, size: size, path: path, arrival: arrival)
        receive(datagram, owners: owners, now: now)
    }

    /// Tries the keys of the possible owners of a packet, the likeliest first. One that has its path, and is over its
    /// limit, is taken for its sender: others' keys are tried only if they have that path, too.
    private func receive(_ datagram: MediaDatagram, owners: [Endpoint], now: MonotonicInstant) {
        var best = PeerConnection.ReceiveOutcome.unknown
        var limited: Endpoint?
        for endpoint in owners.reversed() where endpoint.maySend(as: datagram.ssrc) {
            guard let outcome = offer(datagram, to: endpoint, mayLatch: false, now: now) else {
                limited = endpoint
                continue
            }
            if outcome == .accepted || outcome == .malformed {
                count(outcome, from: datagram.source)
                service(endpoint, now: now)
                return
            }
            if outcome == .unauthenticated { best = outcome }
        }
        let owner = demultiplexer.route(ssrc: datagram.ssrc, source: datagram.source)
        if let owner {
            guard let outcome = deliver(datagram, to: owner, now: now) else {
                dropOverLimit(of: owner)
                return
            }
            best = outcome
            guard best == .unauthenticated else {
                count(best, from: datagram.source)
                return
            }
            // A client that joined again may use the same port and SSRC with new keys.
        }
        if let limited {
            dropOverLimit(of: limited)
            return
        }
        for candidate in demultiplexer.candidates(ssrc: datagram.ssrc, excluding: owner, now: now) {
            // It is not known whether one that is over its limit has sent the packet.
            guard let outcome = deliver(datagram, to: candidate, now: now) else { continue }
            if outcome == .accepted || outcome == .malformed {
                count(outcome, from: datagram.source)
                return
            }
            if outcome == .unauthenticated { best = .unauthenticated }
        }
        count(best, from: datagram.source)
    }

    /// Hands a packet to a participant whose keys came by signalling; returns nil if the participant is over its limit.
    private func deliver(
        _ datagram: MediaDatagram, to participant: Participant, now: MonotonicInstant
    ) -> PeerConnection.ReceiveOutcome? {
        let source = datagram.source
        let mayLatch = participant.peer.isDestination(source) || !isTaken(source, from: participant, now: now)
        let outcome = offer(datagram, to: participant, mayLatch: mayLatch, now: now)
        if outcome == .accepted {
            demultiplexer.authenticated(participant, ssrc: datagram.ssrc, source: source, now: now)
            service(participant, now: now)
        }
        return outcome
    }

    /// Hands a packet to an endpoint; returns nil if the endpoint is over its limit.
    private func offer(
        _ datagram: MediaDatagram, to endpoint: Endpoint, mayLatch: Bool, now: MonotonicInstant
    ) -> PeerConnection.ReceiveOutcome? {
        let (size, isControl) = (datagram.size, datagram.isControl)
        guard endpoint.limiter.hasRoom(size, isControl: isControl, now: now) else { return nil }
        let outcome = endpoint.peer.receive(
            datagram.payload, from: datagram.source, at: datagram.path.local, arrival: datagram.arrival,
            mayLatch: mayLatch, now: now)
        taken(outcome, by: endpoint, size, isControl: isControl, now: now)
        return outcome
    }

    /// Counts a packet that is dropped because its sender is over its limit.
    private func dropOverLimit(of sender: Endpoint) {
        datagrams.rateLimited &+= 1
        sender.packetsRateLimited &+= 1
    }

    /// Only authentic packets count for a participant's limit.
    private func taken(
        _ outcome: PeerConnection.ReceiveOutcome, by participant: Endpoint, _ size: DataSize, isControl: Bool,
        now: MonotonicInstant
    ) {
        guard outcome == .accepted || outcome == .malformed else { return }
        participant.limiter.charge(size, isControl: isControl, now: now)
    }

    /// Returns true if an authenticated path of another participant uses this address now.
    func isTaken(_ address: TransportAddress, from participant: Endpoint?, now: MonotonicInstant) -> Bool {
        // All links to one relay have one address, and a participant that forges it keeps no relay away.
        if participant is CascadeLink { return false }
        if let owner = demultiplexer.owner(of: address), owner !== participant, owner.peer.occupies(address, now: now) {
            return true
        }
        return paths.owners(of: address).contains { $0 !== participant && $0.peer.occupies(address, now: now) }
    }

    private func count(_ outcome: PeerConnection.ReceiveOutcome, from source: TransportAddress) {
        switch outcome {
        case .accepted: datagrams.accepted &+= 1
        case .malformed: datagrams.malformed &+= 1
        case .unauthenticated:
            datagrams.unauthenticated &+= 1
            notices.recordFailure(from: source)
        case .unknown: datagrams.unknown &+= 1
        }
    }
}
