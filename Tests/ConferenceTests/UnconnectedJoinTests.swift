import LoadControl
import MediaCore
import MediaFixtures
import NIOCore
import RoomAPI
import SDP
import SecureTransport
import Testing

@testable import Conference
@testable import PeerConnection

/// Joins whose client never proves that it is there: they end after ten seconds and hold no seat.
@Suite struct UnconnectedJoinTests {
    private static let attacker = TransportAddress(ipv4: 0xC633_640A, port: 50_000)

    /// Joins by HTTP alone: no packet follows.
    private func offer(
        to call: VirtualCall, room: String = "demo", from address: TransportAddress? = attacker,
        hasKeys: Bool = false
    ) throws {
        var random = SeededGenerator(seed: 11)
        var parameters = OfferParameters(address: address ?? Self.attacker)
        parameters.video = OfferParameters.Video(direction: .sendAndReceive)
        parameters.audio = OfferParameters.Audio(direction: .sendAndReceive)
        if !hasKeys, let fingerprint = VirtualCall.clientCertificate?.fingerprint {
            parameters.transport = .dtls(fingerprint: fingerprint, credentials: ICECredentials(using: &random))
        }
        let text = OfferAnswer.makeOffer(parameters, using: &random).0.encode()
        _ = try call.relay.join(
            JoinRequest(room: room, name: "Nobody", offer: text, signallingPeer: address), now: call.now)
    }

    private func joins(_ call: VirtualCall) -> JoinCounters { call.relay.snapshot(now: call.now).joins }

    @Test(
        "Joins without media neither fill the room nor take a seat, and end after ten seconds",
        arguments: [true, false])
    func offersAlone(hasKeys: Bool) throws {
        let call = VirtualCall {
            $0.overload = OverloadSettings(workers: 2)
            $0.maximumParticipants = 3
            $0.maximumRooms = 1
        }
        call.relay.adopt(.machine(timesSlower: 40), now: call.now)
        let seats = try #require(call.relay.snapshot(now: call.now).overload?.seatsLeft)
        #expect((1...4).contains(seats))
        for _ in 0..<20 { try offer(to: call, hasKeys: hasKeys) }
        for index in 0..<5 { try offer(to: call, room: "room-\(index)", hasKeys: hasKeys) }
        call.run(for: .seconds(1))
        #expect(call.relay.snapshot(now: call.now).overload?.seatsLeft == seats)
        #expect(call.relay.snapshot(now: call.now).overload?.refusal == nil)
        #expect(joins(call).unconnected == 25)

        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        call.run(for: .seconds(11))
        #expect(ada.connectionStates.last == .connected)
        #expect(call.relay.population == (1, 1))
        #expect(joins(call).neverConnected == 25)
        #expect(joins(call).unconnected == 0)
    }

    @Test("No picture is composed for a join without media")
    func noPictures() throws {
        let call = VirtualCall()
        for _ in 0..<8 { try offer(to: call) }
        call.run(for: .seconds(5))
        #expect(call.relay.snapshot(now: call.now).rooms.first?.composedPictures == 0)
    }

    @Test("Joins without media get no tile, and one that connects is shown at once")
    func noTiles() throws {
        let call = VirtualCall()
        try call.join("Ada", colour: .red, overDTLS: true)
        let viewer = try call.join("Viewer", video: .receiveOnly, audio: nil, role: .watch)
        call.run(for: .seconds(2))
        for hasKeys in [true, false] {
            for _ in 0..<8 { try offer(to: call, hasKeys: hasKeys) }
        }
        func tiles() throws -> Int {
            let room = try #require(call.relay.rooms["demo"])
            let id = try #require(room.participants.first { $0.publicID == viewer.participantID }).id
            return room.composition.view(of: id)?.shares.count ?? 0
        }
        var most = 0
        for _ in 0..<90 {
            call.run(for: .milliseconds(100))
            most = max(most, try tiles())
        }
        #expect(most == 1)
        try call.join("Ben", colour: .green, overDTLS: true)
        call.run(for: .seconds(2))
        #expect(try tiles() == 2)
    }

    @Test("Joins without media do not make members see the same picture for want of encoders")
    func noSharedView() throws {
        let call = VirtualCall { $0.maximumEncoders = 4 }
        try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green)
        try call.join("Cy", colour: .blue)
        call.run(for: .seconds(2))
        func sharesView() -> Bool {
            call.relay.snapshot(now: call.now).rooms.flatMap(\.participants).contains(where: \.downlink.sharedView)
        }
        #expect(!sharesView())
        for _ in 0..<8 { try offer(to: call) }
        call.run(for: .seconds(2))
        #expect(!sharesView())
        try call.join("Dan", colour: .yellow)
        try call.join("Eve", colour: .yellow)
        #expect(call.run(until: sharesView, limit: .seconds(1)))
    }

    @Test("ICE checks without a handshake do not extend the ten seconds")
    func checksAlone() throws {
        let call = VirtualCall()
        call.drops = { datagram, _, _ in DatagramKind.classify(datagram) == .dtls }
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        call.run(for: .seconds(9))
        #expect(call.relay.snapshot(now: call.now).datagrams.checks > 0)
        #expect(call.relay.population == (1, 1))
        call.run(for: .seconds(3))
        #expect(call.relay.population == (0, 0))
        #expect(ada.connectionStates.last != .connected)
        #expect(joins(call).neverConnected == 1)
    }

    @Test("A handshake that is never completed does not extend the ten seconds")
    func halfOpenHandshake() throws {
        let call = VirtualCall()
        call.drops = { datagram, isDownlink, _ in isDownlink && DatagramKind.classify(datagram) == .dtls }
        try call.join("Ada", colour: .red, overDTLS: true)
        call.run(for: .seconds(12))
        #expect(call.relay.snapshot(now: call.now).datagrams.handshakes > 0)
        #expect(call.relay.population == (0, 0))
    }

    @Test("One address can hold 32 unconnected joins; other addresses can join, and so can the same one later")
    func boundOfOneAddress() throws {
        let call = VirtualCall()
        for _ in 0..<UnconnectedJoins.limitPerNetwork { try offer(to: call) }
        call.run(for: .seconds(4))
        do {
            try offer(to: call)
            Issue.record("the join was accepted")
        } catch JoinError.tooManyUnconnectedFromAddress(let limit, let retryAfter) {
            #expect(limit == UnconnectedJoins.limitPerNetwork)
            #expect(retryAfter == 6)
        }
        #expect(joins(call).refusedUnconnected == 1)
        // The port makes no difference; the address does.
        #expect(throws: JoinError.self) { try offer(to: call, from: Self.attacker.with(port: 7)) }
        try offer(to: call, from: TransportAddress(ipv4: 0xC633_640B, port: 50_000))
        try offer(to: call, from: nil)
        call.run(for: .seconds(7))
        try offer(to: call)
    }

    @Test("An IPv6 network of 64 bits counts as one address")
    func boundOfOneNetwork() throws {
        let call = VirtualCall()
        func address(_ host: UInt64) -> TransportAddress { TransportAddress(ipv6: (0x2001_0DB8 << 32, host), port: 9) }
        for host in 0..<UInt64(UnconnectedJoins.limitPerNetwork) { try offer(to: call, from: address(host)) }
        #expect(throws: JoinError.self) { try offer(to: call, from: address(1000)) }
    }

    @Test("There are at most 256 unconnected joins in all, and connected participants do not count")
    func boundInAll() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        let isConnected = call.run(until: { ada.connectionStates.contains(.connected) })
        #expect(isConnected)
        for index in 0..<UnconnectedJoins.limit {
            try offer(to: call, from: TransportAddress(ipv4: UInt32(0x0A00_0000 + index), port: 1))
        }
        do {
            try offer(to: call, from: TransportAddress(ipv4: 0x0B00_0000, port: 1))
            Issue.record("the join was accepted")
        } catch JoinError.tooManyUnconnected(let limit, let retryAfter) {
            #expect(limit == UnconnectedJoins.limit)
            #expect(retryAfter == 10)
        }
        #expect(call.relay.population.participants == UnconnectedJoins.limit + 1)
    }

    @Test("Of participants that join at once, those that connect after the last seat is taken leave")
    func lastSeatIsTaken() throws {
        let call = VirtualCall { $0.maximumParticipants = 2 }
        let clients = try (0..<4).map { try call.join("\($0)", colour: .red, overDTLS: $0.isMultiple(of: 2)) }
        call.run(for: .seconds(2))
        #expect(call.relay.snapshot(now: call.now).rooms.first?.participants.count == 2)
        #expect(clients.count(where: \.sawGoodbye) == 2)
        #expect(joins(call).withoutSeat == 2)
    }

    @Test("A seat is free again as soon as its participant leaves")
    func seatIsFreed() throws {
        let call = VirtualCall { $0.maximumParticipants = 1 }
        let ada = try call.join("Ada", colour: .red)
        call.run(for: .seconds(1))
        #expect(throws: JoinError.self) { try call.join("Ben", colour: .green) }
        #expect(call.relay.leave(room: "demo", participant: ada.participantID, now: call.now))
        call.remove(ada)
        try call.join("Ben", colour: .green)
        call.run(for: .seconds(12))
        #expect(call.relay.population == (1, 1))
    }
}
