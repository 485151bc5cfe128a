import Conference
import MediaCore
import MediaFixtures
import NIOCore
import SDP
import SecureTransport
import Simulation
import Testing

@testable import PeerConnection

/// Attempts by members to harm the paths of other members; they must have no effect.
@Suite struct HostilePathTests {
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

    @Test("a member with checks from another's forged address takes nothing from the other")
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
