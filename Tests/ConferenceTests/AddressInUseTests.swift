import MediaCore
import MediaFixtures
import NIOCore
import RTP
import SDP
import SecureTransport
import Testing

@testable import Conference
@testable import PeerConnection

/// An address that one participant uses is not given to another, who forges packets from there.
@Suite struct AddressInUseTests {
    private func participant(_ client: TestClient, in call: VirtualCall) throws -> ParticipantSnapshot {
        let room = try #require(call.relay.snapshot(room: "demo", now: call.now))
        return try #require(room.participants.first { $0.id == client.participantID })
    }

    @Test("A member's checks from another's address are refused, and its media does not go there")
    func forgedChecks() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        let mallory = try call.join("Mallory", colour: .blue, overDTLS: true)
        call.run(for: .seconds(2))
        let before = call.relay.snapshot(now: call.now).datagrams
        let arrived = mallory.arrivals.count
        for seed in 1...20 as ClosedRange<UInt64> {
            call.inject(try mallory.makeCheck(seed: 100 + seed, now: call.now), from: ada.address)
            call.run(for: .milliseconds(100))
        }
        #expect(call.relay.snapshot(now: call.now).datagrams.checksRefused >= before.checksRefused + 20)
        #expect(mallory.arrivals.count - arrived > 25, "Mallory's media went to Ada's address")
        #expect(ada.connectionStates == [.connected])
    }

    @Test("Many sessions whose checks come from one address do not take it from the session that uses it")
    func manyForgers() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        let forgers = try (0..<6).map { try call.join("M\($0)", colour: .blue, overDTLS: true) }
        call.run(for: .seconds(2))
        let decoded = try participant(ada, in: call).uplink.framesReceived
        for round in 0..<20 as Range<UInt64> {
            for (index, forger) in forgers.enumerated() {
                let check = try forger.makeCheck(seed: 1000 + round * 10 + UInt64(index), now: call.now)
                call.inject(check, from: ada.address)
            }
            call.run(for: .milliseconds(100))
        }
        let frames = try participant(ada, in: call).uplink.framesReceived - decoded
        #expect(frames >= 28, "\(frames) frames of 30 came from Ada")
    }

    @Test("A member's packets from another's address are taken, and its media does not go there")
    func forgedMedia() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        let mallory = try call.join("Mallory", colour: .blue)
        call.run(for: .seconds(2))
        let (own, toAda, toMallory) = (mallory.address, ada.arrivals.count, mallory.arrivals.count)
        var isForging = true
        call.drops = { datagram, isDownlink, client in
            guard isForging, !isDownlink, client === mallory else { return false }
            call.relay.receive(datagram, from: ada.address, now: call.now)
            return true
        }
        call.run(for: .seconds(2))
        isForging = false
        #expect(mallory.address == own)
        #expect(ada.arrivals.count - toAda > 25)
        #expect(mallory.arrivals.count - toMallory > 25, "Mallory's media went to Ada's address")
        #expect(ada.connectionStates.isEmpty && ada.decodeFailures == 0)
    }

    @Test("Packets under another member's address and SSRC do not bring that member's packets to the forger")
    func forgedRoute() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        let mallory = try call.join("Mallory", colour: .blue)
        call.run(for: .seconds(2))
        let ssrc = try #require(ada.peer.session.video?.localSSRC)
        let line = try #require(mallory.peer.lines.first { $0.negotiated.kind == .video })
        let keys = try #require(line.keys)
        for number in 0..<10 as Range<UInt16> {
            var datagram = RTPPacket(
                payloadType: line.negotiated.payloadType, sequenceNumber: number, timestamp: 0, ssrc: ssrc,
                payload: ByteBuffer(bytes: [0x09, 0xF0])
            ).encode()
            try keys.outbound.protect(rtp: &datagram)
            let accepted = call.relay.snapshot(now: call.now).datagrams.accepted
            call.inject(datagram, from: ada.address)
            #expect(call.relay.snapshot(now: call.now).datagrams.accepted == accepted + 1)
        }
        #expect(call.relay.demultiplexer.route(ssrc: ssrc, source: ada.address)?.name == "Ada")
    }

    @Test("Nothing is sent to another participant's address that an offer names")
    func forgedOffer() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        call.run(for: .seconds(2))
        var toAda = 0
        call.drops = { _, isDownlink, client in
            if isDownlink, client === ada { toAda += 1 }
            return false
        }
        call.run(for: .seconds(2))
        let alone = toAda
        toAda = 0
        var random = SeededGenerator(seed: 11)
        let offer = OfferAnswer.makeOffer(OfferParameters(address: ada.address), using: &random).0.encode()
        _ = try call.relay.join(
            JoinRequest(room: "other", name: "Mallory", offer: offer, signallingPeer: ada.address), now: call.now)
        call.run(for: .seconds(2))
        #expect(toAda < alone + alone / 4, "\(toAda) datagrams, \(alone) before")
    }

    @Test(
        "A client that joins again from the address of its silent session is connected in time",
        arguments: [true, false])
    func samePortAgain(overDTLS: Bool) throws {
        let call = VirtualCall()
        try call.join("Ben", colour: .green, overDTLS: overDTLS)
        let old = try call.join("Ada", colour: .red, overDTLS: overDTLS)
        call.run(for: .seconds(3))
        call.remove(old)
        let ada = try call.join("Ada", colour: .blue, overDTLS: overDTLS)
        ada.address = old.address
        call.run(for: .seconds(9))
        #expect(ada.arrivals.count > 10)
        #expect(try participant(ada, in: call).uplink.framesReceived > 10)
    }
}
