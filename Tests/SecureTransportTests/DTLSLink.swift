import MediaCore
import NIOCore
import SecureTransport

/// Two DTLS connections and the network between them, in virtual time: datagrams are lost, repeated and overtake each
/// other as its seed says.
final class DTLSLink {
    struct Conditions {
        var loss = 0.0
        var duplication = 0.0
        var delay: ClosedRange<Int64> = 10...10

        /// Three in ten are lost, two in ten come twice, and the delays are far enough apart to reorder flights.
        static let bad = Conditions(loss: 0.3, duplication: 0.2, delay: 5...150)
    }

    private struct Flight {
        var arrival: MonotonicInstant
        var order: Int
        var toServer: Bool
        var datagram: ByteBuffer
    }

    let client: DTLSConnection
    let server: DTLSConnection
    let conditions: Conditions
    private(set) var now: MonotonicInstant
    private(set) var clientEvents: [DTLSConnection.Event] = []
    private(set) var serverEvents: [DTLSConnection.Event] = []
    /// All that went out, lost or not.
    private(set) var sent: [(toServer: Bool, datagram: ByteBuffer)] = []
    /// Changes a datagram on its way; nil loses it.
    var tamper: (Bool, ByteBuffer) -> ByteBuffer? = { $1 }
    private var generator: SeededGenerator
    private var flights: [Flight] = []

    /// Certificates take a millisecond or two to make: the tests share two.
    static let clientCertificate = try? DTLSCertificate()
    static let serverCertificate = try? DTLSCertificate()

    struct MissingCertificate: Error {}

    init(
        conditions: Conditions = Conditions(), seed: UInt64 = 1, clientExpects: [CertificateFingerprint]? = nil,
        serverExpects: [CertificateFingerprint]? = nil, now: MonotonicInstant = MonotonicInstant(nanoseconds: 5)
    ) throws {
        guard let clientCertificate = Self.clientCertificate, let serverCertificate = Self.serverCertificate else {
            throw MissingCertificate()
        }
        self.conditions = conditions
        self.now = now
        generator = SeededGenerator(seed: seed)
        client = try DTLSConnection(
            role: .client, certificate: clientCertificate,
            remoteFingerprints: clientExpects ?? [serverCertificate.fingerprint], now: now)
        server = try DTLSConnection(
            role: .server, certificate: serverCertificate,
            remoteFingerprints: serverExpects ?? [clientCertificate.fingerprint], now: now)
        drain()
    }

    var clientKeys: SRTPKeyPair? { Self.keys(clientEvents) }
    var serverKeys: SRTPKeyPair? { Self.keys(serverEvents) }

    static func keys(_ events: [DTLSConnection.Event]) -> SRTPKeyPair? {
        for case .established(let keys) in events { return keys }
        return nil
    }

    var isEstablished: Bool { clientKeys != nil && serverKeys != nil }

    /// Advances time until `condition` holds, nothing is left to happen, or `limit` is over.
    func run(limit: Duration = .seconds(60), until condition: (DTLSLink) -> Bool = { _ in false }) {
        let end = now + limit
        while !condition(self) {
            let arrival = flights.map(\.arrival).min()
            guard
                let next = [arrival, client.nextDeadline, server.nextDeadline].compactMap(\.self).min(), next <= end
            else { return }
            now = max(now, next)
            step()
        }
    }

    /// Sends the connections' waiting output, and takes their events.
    func drain() {
        while let datagram = client.pollTransmit() { send(datagram, toServer: true) }
        while let datagram = server.pollTransmit() { send(datagram, toServer: false) }
        while let event = client.pollEvent() { clientEvents.append(event) }
        while let event = server.pollEvent() { serverEvents.append(event) }
    }

    private func step() {
        let due = flights.filter { $0.arrival <= now }.sorted { ($0.arrival, $0.order) < ($1.arrival, $1.order) }
        flights.removeAll { $0.arrival <= now }
        for flight in due {
            (flight.toServer ? server : client).receive(flight.datagram, now: now)
            drain()
        }
        client.advance(now: now)
        server.advance(now: now)
        drain()
    }

    private func send(_ datagram: ByteBuffer, toServer: Bool) {
        sent.append((toServer, datagram))
        guard let datagram = tamper(toServer, datagram) else { return }
        let isDoubled = Double.random(in: 0..<1, using: &generator) < conditions.duplication
        for _ in 0..<(isDoubled ? 2 : 1) {
            let delay = Duration.milliseconds(Int64.random(in: conditions.delay, using: &generator))
            let isLost = Double.random(in: 0..<1, using: &generator) < conditions.loss
            guard !isLost else { continue }
            flights.append(Flight(arrival: now + delay, order: sent.count, toServer: toServer, datagram: datagram))
        }
    }
}
