import MediaCore
import NIOCore
import SDP
import SecureTransport

/// The path to the remote side, which ICE finds, with the DTLS association that makes its keys.
///
/// A lite agent answers the checks of a full agent; a controlling agent checks a lite one. The association begins when
/// there is a validated path: our own flights go nowhere else.
package final class PeerTransport {
    private(set) var negotiated: NegotiatedTransport
    private let certificate: DTLSCertificate
    private var lite: ICELiteAgent?
    private var controlling: ICEControllingAgent?
    private var association: DTLSConnection?
    /// True if the keys of the association are in use.
    private(set) var hasKeys = false
    /// The reason why the association ended.
    private var end: End?
    /// True if datagrams may have to be sent. If false, sending of media need not ask the agent and the association.
    private var mayTransmit = true

    private(set) var state = ConnectionState.new

    /// The outcome of a datagram.
    enum Outcome {
        /// The datagram is authentic, or at least comes from an address that has sent authentic datagrams.
        case accepted
        /// Failed authentication, or came from an address that passed no check.
        case unauthenticated
        case malformed
        /// The datagram is ignored.
        case ignored
    }

    enum Event {
        case established(keys: SRTPKeyPair)
        case stateChanged(ConnectionState)
        /// The remote side ended the association.
        case closed
    }

    private enum End {
        case closed, failed
    }

    init(
        _ negotiated: NegotiatedTransport, certificate: DTLSCertificate,
        random: any RandomNumberGenerator & Sendable, now: MonotonicInstant
    ) {
        self.negotiated = negotiated
        self.certificate = certificate
        if negotiated.isRemoteLite {
            controlling = ICEControllingAgent(
                local: negotiated.localCredentials, remote: negotiated.remoteCredentials,
                candidates: negotiated.remoteCandidates, random: random, now: now)
        } else {
            lite = ICELiteAgent(
                local: negotiated.localCredentials, remote: negotiated.remoteCredentials, now: now)
        }
    }

    /// The path to send on; nil without consent. A controlling agent leaves our address to the system, which follows
    /// changes of our network.
    var selectedPath: NetworkPath? {
        lite?.selectedPath ?? controlling?.selectedAddress.map { NetworkPath(remote: $0) }
    }

    /// The address to send to; nil without consent.
    var selectedAddress: TransportAddress? { selectedPath?.remote }

    func isValidated(_ address: TransportAddress) -> Bool {
        lite?.isValidated(address) ?? controlling?.isValidated(address) ?? false
    }

    /// True if a ClientHello would begin a handshake.
    var awaitsHandshake: Bool { association == nil && negotiated.dtlsRole == .server && end == nil }

    var isHandshaking: Bool { association != nil && !hasKeys && end == nil }

    // MARK: Receiving

    /// Takes a STUN datagram; an answer goes back on its path.
    func receive(
        stun datagram: ByteBuffer, on path: NetworkPath, now: MonotonicInstant
    ) -> (outcome: Outcome, response: ByteBuffer?) {
        mayTransmit = true
        if let outcome = lite?.receive(datagram, from: path.remote, at: path.local, now: now) {
            switch outcome {
            case .answered(let response, _): return (.accepted, response)
            case .refused(_, let response): return (.ignored, response)
            case .unauthenticated, .replayed, .expired: return (.unauthenticated, nil)
            case .ignored: return (.ignored, nil)
            case .malformed: return (.malformed, nil)
            }
        }
        switch controlling?.receive(datagram, from: path.remote, now: now) {
        case .succeeded: return (.accepted, nil)
        case .unauthenticated: return (.unauthenticated, nil)
        case .malformed: return (.malformed, nil)
        case .refused, .ignored, nil: return (.ignored, nil)
        }
    }

    func receive(dtls datagram: ByteBuffer, from source: TransportAddress, now: MonotonicInstant) -> Outcome {
        guard isValidated(source) else { return .unauthenticated }
        mayTransmit = true
        if awaitsHandshake { beginHandshake(now: now) }
        guard let association, association.receive(datagram, now: now) else { return .ignored }
        return .accepted
    }

    /// An authentic media packet came from this address.
    func recordLiveness(from source: TransportAddress, now: MonotonicInstant) {
        lite?.recordLiveness(from: source, now: now)
        controlling?.recordLiveness(from: source, now: now)
    }

    private func beginHandshake(now: MonotonicInstant) {
        mayTransmit = true
        association = try? DTLSConnection(
            role: negotiated.dtlsRole, certificate: certificate, remoteFingerprints: negotiated.remoteFingerprints,
            maximumDatagramSize: PeerConfiguration.maximumDatagramSize.bytes, now: now)
        if association == nil { end = .failed }
    }

    // MARK: Time

    /// Performs due work. Returns true if there was any.
    func advance(now: MonotonicInstant) -> Bool {
        guard nextDeadline <= now else { return false }
        mayTransmit = true
        lite?.advance(now: now)
        if let deadline = controlling?.nextDeadline, deadline <= now { controlling?.advance(now: now) }
        association?.advance(now: now)
        return true
    }

    var nextDeadline: MonotonicInstant {
        let agent = lite?.nextDeadline ?? controlling?.nextDeadline ?? .distantFuture
        return min(agent, association?.nextDeadline ?? .distantFuture)
    }

    /// Records a change of our network: a controlling agent checks the path again at once.
    func networkChanged(now: MonotonicInstant) {
        mayTransmit = true
        controlling?.checkNow(now: now)
    }

    /// Records that nothing can be sent on a path: a lite agent takes another one that the remote side has checked.
    func sendingFailed(on path: NetworkPath, now: MonotonicInstant) {
        mayTransmit = true
        lite?.sendingFailed(on: path, now: now)
    }

    /// Applies a renegotiation: new credentials restart ICE, and new candidates are checked too.
    func update(_ wanted: NegotiatedTransport, now: MonotonicInstant) {
        mayTransmit = true
        let isRestart =
            wanted.localCredentials != negotiated.localCredentials
            || wanted.remoteCredentials != negotiated.remoteCredentials
        negotiated = wanted
        guard isRestart else {
            controlling?.add(wanted.remoteCandidates)
            return
        }
        lite?.restart(local: wanted.localCredentials, remote: wanted.remoteCredentials, now: now)
        controlling?.restart(
            local: wanted.localCredentials, remote: wanted.remoteCredentials, candidates: wanted.remoteCandidates,
            now: now)
    }

    /// Ends the association; its alert waits for `pollTransmit`.
    func close(now: MonotonicInstant) {
        mayTransmit = true
        association?.close(now: now)
    }

    // MARK: Results

    /// The next datagram to send.
    func pollTransmit() -> PeerConnection.Transmit? {
        guard mayTransmit else { return nil }
        let next = takeOutgoing()
        mayTransmit = next != nil
        return next
    }

    private func takeOutgoing() -> PeerConnection.Transmit? {
        if let check = controlling?.pollTransmit() {
            return PeerConnection.Transmit(
                datagram: check.datagram, path: NetworkPath(remote: check.destination))
        }
        guard let path = selectedPath, let datagram = association?.pollTransmit() else { return nil }
        return PeerConnection.Transmit(datagram: datagram, path: path)
    }

    /// The next event; to be drained after each call.
    func pollEvent(now: MonotonicInstant) -> Event? {
        if association == nil, negotiated.dtlsRole == .client, end == nil, selectedAddress != nil {
            beginHandshake(now: now)
        }
        while end == nil, let event = association?.pollEvent() {
            switch event {
            case .established(let keys):
                hasKeys = true
                return .established(keys: keys)
            case .failed: end = .failed
            case .closed:
                end = .closed
                return .closed
            }
        }
        let present = presentState
        guard present != state else { return nil }
        state = present
        return .stateChanged(present)
    }

    private var presentState: ConnectionState {
        guard end == nil else { return .failed }
        switch lite?.state ?? controlling?.state ?? .failed {
        case .failed: return .failed
        case .new: return .new
        case .connected: return hasKeys ? .connected : .new
        case .disconnected: return hasKeys ? .reconnecting : .new
        }
    }
}
