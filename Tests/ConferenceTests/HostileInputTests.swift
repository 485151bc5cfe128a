import Conference
import MediaCore
import MediaFixtures
import NIOCore
import SDP
import SecureTransport
import Testing

@testable import PeerConnection

/// Input that strangers and members can send; it must not affect the other members.
@Suite struct HostileInputTests {
    private var random = SeededGenerator(seed: 99)

    @Test("a hundred thousand random, cut and flipped datagrams from strangers leave the call as it was")
    mutating func hostileDatagrams() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green)
        var captured: [ByteBuffer] = []
        call.drops = { datagram, isDownlink, _ in
            if !isDownlink, captured.count < 400 { captured.append(datagram) }
            return false
        }
        call.run(for: .seconds(2))
        for round in 0..<100_000 {
            let datagram =
                round % 4 == 0
                ? randomBytes(count: Int.random(in: 0..<80, using: &random))
                : mutated(captured[Int.random(in: 0..<captured.count, using: &random)])
            let port = UInt16.random(in: 20_000..<20_004, using: &random)
            call.relay.receive(datagram, from: TransportAddress(ipv4: 0x7f00_0001, port: port), now: call.now)
        }
        try expectUndisturbed(ada, in: call)
        #expect(call.relay.population.participants == 2)
    }

    @Test("tens of thousands of mutated checks, handshakes and packets of sessions over DTLS leave the call as it was")
    mutating func hostileDatagramsOverDTLS() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        try call.join("Ben", colour: .green, overDTLS: true)
        var captured: [ByteBuffer] = []
        call.drops = { datagram, isDownlink, _ in
            if !isDownlink, captured.count < 400 { captured.append(datagram) }
            return false
        }
        call.run(for: .seconds(2))
        let signalling = captured.filter { [.stun, .dtls].contains(DatagramKind.classify($0)) }
        try #require(signalling.count > 5)
        for round in 0..<40_000 {
            let source = round.isMultiple(of: 2) ? signalling : captured
            let datagram = mutated(source[Int.random(in: 0..<source.count, using: &random)])
            let port = UInt16.random(in: 20_000..<20_004, using: &random)
            call.relay.receive(datagram, from: TransportAddress(ipv4: 0x7f00_0001, port: port), now: call.now)
            if round.isMultiple(of: 2_000) { call.run(for: .milliseconds(100)) }
        }
        try expectUndisturbed(ada, in: call)
        #expect(ada.connectionStates == [.connected])
        #expect(call.relay.population.participants == 2)
    }

    @Test("a member that sends garbage under valid keys disturbs nobody")
    mutating func hostileMember() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", colour: .green)
        let mallory = try call.join("Mallory", colour: .blue)
        var captured: [ByteBuffer] = []
        let session = mallory.peer.session
        let inbound = try session.media.map { try SRTPContext(keys: #require($0.keys).outbound, direction: .inbound) }
        call.drops = { datagram, isDownlink, client in
            guard !isDownlink, client === mallory else { return false }
            for context in inbound {
                var plain = datagram
                let kind = DatagramKind.classify(datagram)
                if kind == .rtp, (try? context.unprotect(rtp: &plain)) != nil { captured.append(plain) }
                if kind == .rtcp, (try? context.unprotect(rtcp: &plain)) != nil { captured.append(plain) }
            }
            return true
        }
        call.run(for: .seconds(2))
        try #require(captured.count > 50)

        let outbound = try session.media.map { try SRTPContext(keys: #require($0.keys).outbound, direction: .outbound) }
        var sequence: [UInt8: UInt16] = [:]
        let before = call.relay.snapshot(now: call.now).datagrams.accepted
        for round in 0..<40_000 {
            var packet = mutated(captured[Int.random(in: 0..<captured.count, using: &random)], keepingHeader: 8)
            let kind = DatagramKind.classify(packet)
            let line = round % outbound.count
            if kind == .rtp, let type = packet.getInteger(at: packet.readerIndex + 1, as: UInt8.self) {
                // Numbers go up, so that the replay check lets the contents through to the parsers.
                sequence[type, default: 0x4000] &+= UInt16.random(in: 1...3, using: &random)
                packet.setInteger(sequence[type, default: 0], at: packet.readerIndex + 2)
                guard (try? outbound[line].protect(rtp: &packet)) != nil else { continue }
            } else {
                guard (try? outbound[line].protect(rtcp: &packet)) != nil else { continue }
            }
            call.relay.receive(packet, from: mallory.address, now: call.now)
            if round % 500 == 0 { call.run(for: .milliseconds(20)) }
        }
        let accepted = call.relay.snapshot(now: call.now).datagrams.accepted - before
        #expect(accepted > 1000, "only \(accepted) datagrams came past the cipher")
        try expectUndisturbed(ada, in: call)
        #expect(ben.decodeFailures == 0)
    }

    @Test("tens of thousands of mutated offers are answered or refused, and leave no room open")
    mutating func hostileOffers() throws {
        let call = VirtualCall { $0.maximumRooms = 4 }
        let ada = try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green)
        let parameters = OfferParameters(address: TransportAddress(ipv4: 0x7f00_0001, port: 20_100))
        let offer = Array(OfferAnswer.makeOffer(parameters, using: &random).offer.encode().utf8)
        for _ in 0..<20_000 {
            var bytes = offer
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0..<128, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(contentsOf: bytes[index..<min(bytes.count, index + 20)], at: index)
                }
            }
            let request = JoinRequest(room: "hostile", name: "M", offer: String(decoding: bytes, as: UTF8.self))
            if let result = try? call.relay.join(request, now: call.now) {
                #expect(call.relay.leave(room: "hostile", participant: result.participantID, now: call.now))
            }
        }
        #expect(call.relay.population == (1, 2))
        try expectUndisturbed(ada, in: call)
    }

    private func expectUndisturbed(_ client: TestClient, in call: VirtualCall) throws {
        let before = client.arrivals.count
        call.run(for: .seconds(2))
        #expect(client.arrivals.count - before >= 28, "\(client.arrivals.count - before) frames in 2 s")
        #expect(client.decodeFailures == 0)
        #expect(!client.sawGoodbye)
    }

    private mutating func randomBytes(count: Int) -> ByteBuffer {
        ByteBuffer(bytes: (0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &random) })
    }

    /// Cuts a datagram short, or flips some of its bytes behind the first `head`.
    private mutating func mutated(_ datagram: ByteBuffer, keepingHeader head: Int = 0) -> ByteBuffer {
        var result = datagram
        guard result.readableBytes > head + 1 else { return result }
        if Bool.random(using: &random) {
            let length = Int.random(in: head..<result.readableBytes, using: &random)
            result = result.getSlice(at: result.readerIndex, length: length) ?? result
        }
        guard result.readableBytes > head else { return result }
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let index = result.readerIndex + Int.random(in: head..<result.readableBytes, using: &random)
            result.setInteger(UInt8.random(in: 0 ... .max, using: &random), at: index)
        }
        return result
    }
}
