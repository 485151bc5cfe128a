import HostileBytes
import MediaCore
import NIOCore
import SecureTransport
import Testing

/// Peers that do not get in, and the cost of their attempts: ICE and DTLS one after the other, as in a relay.
@Suite struct JoiningRefusalTests {
    private let source = ICEFixture.address(1)
    private let stranger = ICEFixture.address(66)

    /// The result of a run of a handshake.
    private struct Run {
        var keys: SRTPKeyPair?
        var clientEvents: [DTLSConnection.Event] = []
        /// All that the endpoint sent.
        var answers: [(datagram: ByteBuffer, destination: TransportAddress)] = []
        /// All that the client sent.
        var flights: [ByteBuffer] = []
    }

    /// A client checks with `password` and then shakes hands; `between` is done before each of its datagrams.
    private func join(
        _ endpoint: inout LiteEndpoint, gate: inout HandshakeGate<Int>, password: String? = nil,
        between: (inout LiteEndpoint, inout HandshakeGate<Int>) throws -> Void = { _, _ in }
    ) throws -> Run {
        var run = Run()
        let check = ICEFixture.check(1, nominates: true, password: password)
        run.answers += try endpoint.receive(check, from: source, gate: &gate, now: .zero)
        let client = try DTLSConnection(
            role: .client, certificate: #require(DTLSLink.clientCertificate),
            remoteFingerprints: [#require(DTLSLink.serverCertificate).fingerprint], now: .zero)
        while let datagram = client.pollTransmit() {
            try between(&endpoint, &gate)
            run.flights.append(datagram)
            let answers = try endpoint.receive(datagram, from: source, gate: &gate, now: .zero)
            run.answers += answers
            for answer in answers { client.receive(answer.datagram, now: .zero) }
        }
        while let event = client.pollEvent() { run.clientEvents.append(event) }
        run.keys = endpoint.keys
        return run
    }

    private func endpoint(number: Int = 1) throws -> LiteEndpoint {
        LiteEndpoint(number: number, fingerprints: [try #require(DTLSLink.clientCertificate).fingerprint])
    }

    @Test("a client with the password and the certificate gets the keys")
    func welcome() throws {
        var endpoint = try endpoint()
        var gate = HandshakeGate<Int>()
        let run = try join(&endpoint, gate: &gate)
        #expect(run.keys != nil)
        #expect(run.keys?.inbound == DTLSLink.keys(run.clientEvents)?.outbound)
        #expect(endpoint.refusedCount == 0 && gate.count == 0)
        #expect(run.answers.allSatisfy { $0.destination == source })
    }

    @Test("with a wrong ICE password nothing is answered and no handshake is begun")
    func wrongPassword() throws {
        var endpoint = try endpoint()
        var gate = HandshakeGate<Int>()
        let run = try join(&endpoint, gate: &gate, password: "relaypasswordrelaypass02")
        #expect(run.answers.isEmpty && run.keys == nil)
        #expect(endpoint.association == nil)
        #expect(gate.count == 0)
        #expect(endpoint.refusedCount == 2, "the check and the ClientHello")
    }

    @Test("with a wrong certificate there are no keys on either side, and the place in the gate is free again")
    func wrongCertificate() throws {
        var endpoint = LiteEndpoint(
            fingerprints: [try #require(CertificateFingerprint(digest: [UInt8](repeating: 1, count: 32)))])
        var gate = HandshakeGate<Int>()
        let run = try join(&endpoint, gate: &gate)
        #expect(run.keys == nil)
        #expect(run.clientEvents == [.failed(.alertReceived(code: 42, name: "bad certificate"))])
        #expect(endpoint.association?.state == .failed(.fingerprintMismatch))
        #expect(gate.count == 0)
    }

    @Test("a replayed join, from the same address or another, gets nothing")
    func replay() throws {
        var endpoint = try endpoint()
        var gate = HandshakeGate<Int>()
        let run = try join(&endpoint, gate: &gate)
        let recorded = [ICEFixture.check(1, nominates: true)] + run.flights
        for datagram in recorded {
            let answers = try endpoint.receive(datagram, from: stranger, gate: &gate, now: .zero)
            #expect(answers.isEmpty)
        }
        #expect(endpoint.refusedCount == recorded.count)
        for datagram in run.flights {
            let answers = try endpoint.receive(datagram, from: source, gate: &gate, now: .zero)
            #expect(answers.isEmpty)
        }
        #expect(endpoint.refusedCount == recorded.count + run.flights.count)
        #expect(endpoint.keys == run.keys)
        #expect(endpoint.agent.selectedAddress == source)
        #expect(endpoint.association?.state == .established)
    }

    @Test("a handshake continues during a flood of checks and garbage, all of which is refused and counted")
    func flood() throws {
        var endpoint = try endpoint()
        var gate = HandshakeGate<Int>()
        var generator = SeededGenerator(seed: 5)
        var floodCount = 0
        let run = try join(&endpoint, gate: &gate) { endpoint, gate in
            for number in 0..<2_000 {
                let flooder = ICEFixture.address(
                    UInt8.random(in: 2...250, using: &generator), port: UInt16.random(in: 1...65_535, using: &generator)
                )
                let datagram =
                    switch number % 3 {
                    case 0: ICEFixture.check(UInt64(number), nominates: true, password: "a guess of 22 characters")
                    case 1: DTLSRecords.record(type: 22, sequence: UInt64(number), payload: [1, 0, 0, 0, 0, 0])
                    default: ByteBuffer(bytes: generator.mutate(Array(ICEFixture.check(9).readableBytesView)))
                    }
                let answers = try endpoint.receive(datagram, from: flooder, gate: &gate, now: .zero)
                #expect(answers.isEmpty)
                floodCount += 1
            }
        }
        #expect(run.keys != nil)
        #expect(floodCount == 4_000)
        #expect(endpoint.refusedCount == floodCount)
    }

    @Test("the number of unfinished handshakes is limited, and peers that complete theirs in time still get in")
    func halfOpen() throws {
        var gate = HandshakeGate<Int>(maximumCountPerHost: 4, maximumCount: 8)
        let hello = try #require(DTLSLink().sent.first).datagram
        var begun = 0
        for number in 0..<50 {
            var endpoint = try endpoint(number: number)
            let source = ICEFixture.address(66, port: UInt16(1000 + number))
            _ = try endpoint.receive(ICEFixture.check(1, nominates: true), from: source, gate: &gate, now: .zero)
            _ = try endpoint.receive(hello, from: source, gate: &gate, now: .zero)
            if endpoint.association != nil { begun += 1 }
        }
        #expect(begun == 4 && gate.count == 4)
        #expect(gate.refusedCount == 46)
        var endpoint = try endpoint(number: 99)
        let run = try join(&endpoint, gate: &gate)
        #expect(run.keys != nil)
    }
}
