import Conference
import MediaCore
import MediaFixtures
import NIOCore
import SDP
import SecureTransport
import Testing

@testable import PeerConnection

/// Attempts to get in by ICE and DTLS that must fail, without an effect on the members that are in.
@Suite struct HostileJoinTests {
    private let stranger = TransportAddress(ipv4: 0xCB00_7107, port: 4_000)

    private func counters(_ call: VirtualCall) -> DatagramCounters { call.relay.snapshot(now: call.now).datagrams }

    /// Runs the call and tells whether pictures went on arriving.
    private func expectUndisturbed(_ client: TestClient, in call: VirtualCall) {
        let before = client.arrivals.count
        call.run(for: .seconds(1))
        // A member that is alone sees a still picture, which is sent five times a second.
        #expect(client.arrivals.count - before >= 4)
        #expect(client.connectionStates.last == .connected)
    }

    @Test("with a wrong ICE password nothing is answered, counted as refused, and the participant leaves")
    func wrongPassword() throws {
        let call = VirtualCall()
        call.drops = { _, _, _ in true }
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        var transport = try #require(ada.peer.session.transport)
        transport.remoteCredentials.password = "a password that was not told"
        ada.peer.update(transport: transport, now: call.now)
        call.drops = { _, _, _ in false }
        call.run(for: .seconds(5))
        #expect(call.destinations.isEmpty)
        #expect(counters(call).checks == 0 && counters(call).checksRefused > 0)
        #expect(counters(call).handshakes == 0)
        call.run(for: .seconds(30))
        #expect(call.relay.population == (0, 0))
    }

    @Test("a replayed join is refused and counted, from any address")
    func replay() throws {
        let call = VirtualCall()
        var recorded: [ByteBuffer] = []
        call.drops = { datagram, isDownlink, _ in
            let kind = DatagramKind.classify(datagram)
            if !isDownlink, kind == .dtls || kind == .stun { recorded.append(datagram) }
            return false
        }
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        try call.join("Ben", colour: .green)
        let isConnected = call.run(until: { ada.connectionStates.contains(.connected) })
        #expect(isConnected)
        call.drops = { _, _, _ in false }
        let handshake = recorded.filter { DatagramKind.classify($0) == .dtls }
        try #require(handshake.count >= 2 && handshake.count < recorded.count)
        expectUndisturbed(ada, in: call)

        var before = counters(call)
        for _ in 0..<50 {
            for datagram in recorded { call.inject(datagram, from: stranger) }
        }
        #expect(counters(call).checks == before.checks && counters(call).handshakes == before.handshakes)
        #expect(
            counters(call).checksRefused + counters(call).handshakesRefused
                == before.checksRefused + before.handshakesRefused + UInt64(50 * recorded.count))
        #expect(!call.destinations.contains(stranger))

        before = counters(call)
        for _ in 0..<50 {
            for datagram in handshake { call.inject(datagram, from: ada.address) }
        }
        #expect(counters(call).handshakes == before.handshakes)
        #expect(counters(call).handshakesRefused == before.handshakesRefused + UInt64(50 * handshake.count))
        expectUndisturbed(ada, in: call)
    }

    @Test("a flood of checks is refused and counted, and not answered")
    func flood() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        try call.join("Ben", colour: .green)
        let isConnected = call.run(until: { ada.connectionStates.contains(.connected) })
        #expect(isConnected)
        let transport = try #require(ada.peer.session.transport)
        var guesser = ICEControllingAgent(
            local: transport.localCredentials,
            remote: ICECredentials(
                usernameFragment: transport.remoteCredentials.usernameFragment,
                password: "a guess that is long enough"),
            candidates: transport.remoteCandidates, random: SeededGenerator(seed: 5), now: call.now)
        guesser.advance(now: call.now)
        let check = guesser.pollTransmit()
        let guess = Array(try #require(check).datagram.readableBytesView)

        var random = SeededGenerator(seed: 6)
        let before = counters(call)
        let destinations = call.destinations
        for round in 0..<20_000 {
            var bytes = guess
            if !round.isMultiple(of: 2) {
                // Never the two bits that tell STUN from everything else.
                bytes[Int.random(in: 1..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            }
            let source = TransportAddress(
                ipv4: UInt32.random(in: 0x0B00_0000..<0x0C00_0000, using: &random),
                port: UInt16.random(in: 1...UInt16.max, using: &random))
            call.inject(ByteBuffer(bytes: bytes), from: source)
        }
        #expect(counters(call).checksRefused == before.checksRefused + 20_000)
        #expect(counters(call).checks == before.checks)
        #expect(call.destinations == destinations)
        expectUndisturbed(ada, in: call)
    }
}
