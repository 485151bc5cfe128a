import Conference
import MediaCore
import MediaFixtures
import NIOCore
import SecureTransport
import Testing

@testable import PeerConnection

/// Joining, leaving, and the requests of strangers.
@Suite struct RoomLifeTests {
    @Test("a room is full at its limit, and the refusal says so")
    func fullRoom() throws {
        let call = VirtualCall { $0.maximumParticipants = 2 }
        try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green)
        // A seat is taken when the client's first packet authenticates.
        call.run(for: .milliseconds(100))
        #expect(throws: JoinError.self) { try call.join("Cy", colour: .blue) }
        #expect(call.relay.snapshot(now: call.now).rooms[0].participants.count == 2)
    }

    @Test("an offer that is no session description is refused with the line and the reason")
    func malformedOffer() {
        let call = VirtualCall()
        do {
            _ = try call.relay.join(JoinRequest(room: "demo", name: "X", offer: "v=0\r\nhello\r\n"), now: call.now)
            Issue.record("the offer was taken")
        } catch {
            #expect("\(error)".contains("line 2"), "\(error)")
        }
        #expect(call.relay.population.rooms == 0)
    }

    @Test("leaving by request, by RTCP BYE and by silence all empty the room")
    func leaving() throws {
        let call = VirtualCall { $0.idleTimeout = .seconds(5) }
        let ada = try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", colour: .green)
        let cy = try call.join("Cy", colour: .blue)
        call.run(for: .seconds(1))
        #expect(call.relay.leave(room: "demo", participant: ada.participantID, now: call.now))
        #expect(!call.relay.leave(room: "demo", participant: ada.participantID, now: call.now))
        ben.peer.close(now: call.now)
        call.run(for: .seconds(1))
        #expect(ada.sawGoodbye)
        #expect(call.relay.snapshot(now: call.now).rooms[0].participants.map(\.name) == ["Cy"])
        call.remove(cy)
        call.run(for: .seconds(7))
        #expect(call.relay.population == (0, 0))
    }

    @Test("closing the relay says goodbye to everyone")
    func closing() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", colour: .green)
        call.run(for: .seconds(1))
        call.relay.close(now: call.now)
        call.run(for: .milliseconds(50))
        #expect(ada.sawGoodbye && ben.sawGoodbye)
        #expect(throws: JoinError.self) { try call.join("Cy", colour: .blue) }
    }

    @Test("a client whose address changes keeps its call once a packet from there authenticates")
    func addressChange() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green)
        call.run(for: .seconds(2))
        ada.address = TransportAddress(ipv4: 0x7f00_0001, port: 31_000)
        let before = ada.arrivals.count
        call.run(for: .seconds(2))
        #expect(ada.arrivals.count - before > 25)
        #expect(call.relay.population.participants == 2)
    }

    @Test("a replayed packet from elsewhere moves nobody's media")
    func replayDoesNotLatch() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green)
        var captured: [ByteBuffer] = []
        call.drops = { datagram, isDownlink, client in
            if !isDownlink, client === ada, captured.count < 500 { captured.append(datagram) }
            return false
        }
        call.run(for: .seconds(2))
        call.drops = { _, _, _ in false }
        call.run(for: .milliseconds(100))
        let accepted = call.relay.snapshot(now: call.now).datagrams.accepted
        let thief = TransportAddress(ipv4: 0x0a00_0001, port: 4000)
        for datagram in captured { call.inject(datagram, from: thief) }
        #expect(call.relay.snapshot(now: call.now).datagrams.accepted == accepted)
        let before = ada.arrivals.count
        call.run(for: .seconds(2))
        #expect(ada.arrivals.count - before > 25)
    }
}
