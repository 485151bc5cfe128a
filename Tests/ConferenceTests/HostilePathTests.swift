import Conference
import MediaCore
import NIOCore
import NetworkSimulation
import SecureTransport
import Testing

/// What can be done to a session over ICE and DTLS by those who are not in it, and by those who are: little.
@Suite struct HostilePathTests {
    private let thief = TransportAddress(ipv4: 0x0a00_0001, port: 4000)

    private func counters(_ call: VirtualCall) -> DatagramCounters {
        call.relay.snapshot(now: call.now).datagrams
    }

    /// A check by one who claims these credentials.
    private func check(
        local: ICECredentials, remote: ICECredentials, now: MonotonicInstant, seed: UInt64 = 3
    ) throws -> ByteBuffer {
        let candidate = try #require(ICECandidate.hostCandidates([VirtualCall.relayAddress]).first)
        var agent = ICEControllingAgent(
            local: local, remote: remote, candidates: [candidate], random: SeededGenerator(seed: seed), now: now)
        agent.advance(now: now)
        let transmit = agent.pollTransmit()
        return try #require(transmit).datagram
    }

    @Test("checks with a wrong password are counted and answered with nothing, and who makes them leaves unheard")
    func wrongPassword() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        var transport = try #require(ada.peer.session.transport)
        transport.remoteCredentials.password = "aPasswordThatNobodyGave0"
        ada.peer.update(transport: transport, now: call.now)
        call.run(for: .seconds(5))
        #expect(counters(call).checksRefused > 3)
        #expect(call.destinations.isEmpty)
        call.run(for: .seconds(30))
        #expect(call.relay.occupancy == (0, 0))
    }

    @Test("a flood of checks from thousands of addresses is refused, counted, and reaches nobody")
    func checkFlood() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        try call.join("Ben", colour: .green, overDTLS: true)
        call.run(for: .seconds(2))
        let transport = try #require(ada.peer.session.transport)
        var wrong = transport.remoteCredentials
        wrong.password = "aPasswordThatNobodyGave0"
        let forged = try check(local: transport.localCredentials, remote: wrong, now: call.now)
        var random = SeededGenerator(seed: 11)
        let stranger = try check(
            local: ICECredentials(using: &random), remote: ICECredentials(using: &random), now: call.now)
        let before = counters(call)
        for index in 0..<20_000 {
            let source = TransportAddress(ipv4: UInt32(0x0a00_0000 + index), port: 4000)
            call.relay.receive(index.isMultiple(of: 2) ? forged : stranger, from: source, now: call.now)
        }
        let arrived = ada.arrivals.count
        call.run(for: .seconds(2))
        #expect(counters(call).checksRefused == before.checksRefused + 20_000)
        #expect(ada.arrivals.count - arrived > 25)
        #expect(call.destinations.count == 2)
    }

    @Test("a check that was overheard takes the media nowhere else")
    func replayedCheck() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        try call.join("Ben", colour: .green, overDTLS: true)
        var overheard: [ByteBuffer] = []
        call.drops = { datagram, isDownlink, client in
            if !isDownlink, client === ada, DatagramKind.classify(datagram) == .stun { overheard.append(datagram) }
            return false
        }
        call.run(for: .seconds(10))
        #expect(overheard.count > 2)
        for datagram in overheard { call.inject(datagram, from: thief) }
        call.run(for: .seconds(2))
        #expect(!call.destinations.contains(thief))
        #expect(counters(call).checksRefused == UInt64(overheard.count))
    }

    @Test("a handshake that is played again, from its own address or another, changes nothing")
    func replayedHandshake() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        try call.join("Ben", colour: .green, overDTLS: true)
        var overheard: [ByteBuffer] = []
        call.drops = { datagram, isDownlink, client in
            if !isDownlink, client === ada, DatagramKind.classify(datagram) == .dtls { overheard.append(datagram) }
            return false
        }
        call.run(for: .seconds(2))
        #expect(overheard.count >= 2)
        let arrived = ada.arrivals.count
        for _ in 0..<50 {
            for datagram in overheard {
                call.inject(datagram, from: ada.address)
                call.inject(datagram, from: thief)
            }
        }
        call.run(for: .seconds(2))
        #expect(ada.arrivals.count - arrived > 25)
        #expect(ada.connectionStates == [.connected])
        #expect(counters(call).handshakesRefused == UInt64(50 * overheard.count))
        #expect(!call.destinations.contains(thief))
    }

    @Test("a member whose checks pretend to come from another's address takes nothing from them")
    func pretendedAddress() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        let mallory = try call.join("Mallory", colour: .blue, overDTLS: true)
        call.run(for: .seconds(2))
        let transport = try #require(mallory.peer.session.transport)
        let arrived = ada.arrivals.count
        for seed in 1...20 as ClosedRange<UInt64> {
            let check = try check(
                local: transport.localCredentials, remote: transport.remoteCredentials, now: call.now, seed: 100 + seed)
            call.inject(check, from: ada.address)
            call.run(for: .milliseconds(100))
        }
        #expect(ada.arrivals.count - arrived > 25)
        #expect(ada.connectionStates == [.connected])
        let room = try #require(call.relay.snapshot(room: "demo", now: call.now))
        let uplink = try #require(room.participants.first { $0.id == ada.participantID }).uplink
        #expect(uplink.framesDecoded > 50, "\(uplink.framesDecoded) frames of 60 came from her")
    }

    @Test("more addresses than a session may have are forgotten, the call's own not")
    func manyAddresses() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        try call.join("Ben", colour: .green, overDTLS: true)
        call.run(for: .seconds(2))
        let transport = try #require(ada.peer.session.transport)
        for index in 0..<200 {
            let check = try check(
                local: transport.localCredentials, remote: transport.remoteCredentials, now: call.now,
                seed: UInt64(1000 + index))
            call.inject(check, from: TransportAddress(ipv4: UInt32(0x0a00_0000 + index), port: 4000))
        }
        let arrived = ada.arrivals.count
        call.run(for: .seconds(2))
        #expect(ada.arrivals.count - arrived > 25)
        #expect(ada.connectionStates == [.connected])
    }
}
