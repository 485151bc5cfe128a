import MediaCore
import NIOCore
import SecureTransport

/// The part in front of one participant's media: it answers checks, begins a handshake only with an address that passed
/// one, and only when the gate has room.
struct LiteEndpoint {
    let number: Int
    var agent: ICELiteAgent
    private(set) var association: DTLSConnection?
    private(set) var keys: SRTPKeyPair?
    /// Datagrams that were of no effect.
    private(set) var refusedCount = 0
    private let fingerprints: [CertificateFingerprint]

    init(
        number: Int = 1, local: ICECredentials = ICEFixture.relay, remote: ICECredentials = ICEFixture.client,
        fingerprints: [CertificateFingerprint]
    ) {
        self.number = number
        agent = ICELiteAgent(local: local, remote: remote, now: .zero)
        self.fingerprints = fingerprints
    }

    /// Takes a datagram; returns the output with its destination.
    mutating func receive(
        _ datagram: ByteBuffer, from source: TransportAddress, gate: inout HandshakeGate<Int>, now: MonotonicInstant
    ) throws -> [(datagram: ByteBuffer, destination: TransportAddress)] {
        switch DatagramKind.classify(datagram) {
        case .stun:
            switch agent.receive(datagram, from: source, now: now) {
            case .answered(let response, _): return response.map { [($0, source)] } ?? []
            default: refusedCount += 1
            }
        case .dtls where agent.isValidated(source):
            return try receiveDTLS(datagram, from: source, gate: &gate, now: now)
        default: refusedCount += 1
        }
        return []
    }

    private mutating func receiveDTLS(
        _ datagram: ByteBuffer, from source: TransportAddress, gate: inout HandshakeGate<Int>, now: MonotonicInstant
    ) throws -> [(datagram: ByteBuffer, destination: TransportAddress)] {
        if association == nil, gate.admit(number, from: source), let certificate = DTLSLink.serverCertificate {
            association = try DTLSConnection(
                role: .server, certificate: certificate, remoteFingerprints: fingerprints, now: now)
        }
        guard let association, association.receive(datagram, now: now) else {
            refusedCount += 1
            return []
        }
        while let event = association.pollEvent() {
            gate.release(number)
            if case .established(let made) = event { keys = made }
        }
        var sent: [(ByteBuffer, TransportAddress)] = []
        while let datagram = association.pollTransmit() {
            if let destination = agent.selectedAddress { sent.append((datagram, destination)) }
        }
        return sent
    }
}
