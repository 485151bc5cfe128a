import CongestionControl
import MediaCore
import MediaFixtures
import NIOCore
import RoomAPI
import SDP
import SecureTransport
import Testing

@testable import Conference
@testable import PeerConnection

/// Receivers with their keys in the session description that send nothing, or nothing any more.
@Suite struct SilentReceiverTests {
    private static let remote = TransportAddress(ipv4: 0xC633_640A, port: 50_000)

    /// Joins a receiver on another machine, of which no packet comes.
    private func joinSilently(
        _ call: VirtualCall, from address: TransportAddress = remote, withoutFeedback: Bool = false
    ) throws {
        var random = SeededGenerator(seed: 11)
        var parameters = OfferParameters(address: address)
        parameters.video = OfferParameters.Video(direction: .receiveOnly)
        parameters.audio = OfferParameters.Audio(direction: .receiveOnly)
        var text = OfferAnswer.makeOffer(parameters, using: &random).0.encode()
        if withoutFeedback {
            text = text.split(separator: "\r\n").filter { !$0.hasPrefix("a=rtcp-fb:") }.map { $0 + "\r\n" }.joined()
        }
        _ = try call.relay.join(
            JoinRequest(room: "demo", name: "Viewer", offer: text, role: .watch, signallingPeer: address),
            now: call.now)
    }

    private func names(_ call: VirtualCall) -> [String] {
        call.relay.snapshot(now: call.now).rooms.flatMap(\.participants).map(\.name)
    }

    private func snapshot(_ call: VirtualCall, _ name: String) throws -> ParticipantSnapshot {
        try #require(
            call.relay.snapshot(now: call.now).rooms.flatMap(\.participants).first { $0.name == name })
    }

    @Test("A receiver on another machine that never sends a packet is sent media for ten seconds, and leaves")
    func neverHeard() throws {
        let call = VirtualCall()
        try call.join("Ada", colour: .red)
        try joinSilently(call)
        call.run(for: .seconds(5))
        #expect(call.destinations.contains(Self.remote))
        #expect(names(call) == ["Ada", "Viewer"])
        call.run(for: .seconds(7))
        #expect(names(call) == ["Ada"])
    }

    @Test("With the operator's consent, a receiver that never sends a packet stays")
    func consent() throws {
        let call = VirtualCall { $0.allowsSilentReceivers = true }
        try call.join("Ada", colour: .red)
        try joinSilently(call)
        call.run(for: .seconds(60))
        #expect(names(call) == ["Ada", "Viewer"])
        #expect(try snapshot(call, "Viewer").connection == .connected)
        #expect(try snapshot(call, "Viewer").downlink.bitRate > 0)
    }

    @Test(
        "A further offer, with new keys or another stream, sends media to the host of the join and to no other",
        arguments: [
            (TransportAddress(ipv4: 0xCB00_7101, port: 50_000), true, false),
            (TransportAddress(ipv4: 0xCB00_7101, port: 50_000), false, false),
            (TransportAddress(ipv4: 0xC633_640A, port: 50_010), true, true),
            (TransportAddress(ipv4: 0xC633_640A, port: 50_010), false, true),
        ])
    func furtherOffer(address: TransportAddress, hasNewKeys: Bool, isSentTo: Bool) throws {
        let call = VirtualCall { $0.allowsSilentReceivers = true }
        try call.join("Ada", colour: .red)
        var random = SeededGenerator(seed: 11)
        var parameters = OfferParameters(address: Self.remote)
        parameters.video = OfferParameters.Video(direction: .receiveOnly)
        parameters.audio = nil
        let (offer, pending) = OfferAnswer.makeOffer(parameters, using: &random)
        let joined = try call.relay.join(
            JoinRequest(
                room: "demo", name: "Viewer", offer: offer.encode(), role: .watch, signallingPeer: Self.remote),
            now: call.now)
        call.run(for: .seconds(2))
        #expect(call.destinations.contains(Self.remote))

        parameters.address = address
        if !hasNewKeys { parameters.audio = OfferParameters.Audio(direction: .receiveOnly) }
        let (further, _) = OfferAnswer.makeOffer(parameters, previous: hasNewKeys ? nil : pending, using: &random)
        _ = try call.relay.renegotiate(
            room: "demo", participant: joined.participantID, offer: ReceivedOffer(further.encode()), now: call.now)
        call.run(for: .seconds(2))
        #expect(call.destinations.contains(address) == isSentTo)
    }

    @Test("A receiver on the relay's machine that never sends a packet stays")
    func loopback() throws {
        let call = VirtualCall()
        try call.join("Ada", colour: .red)
        try joinSilently(call, from: TransportAddress(ipv4: 0x7F00_0001, port: 50_000))
        call.run(for: .seconds(60))
        #expect(names(call) == ["Ada", "Viewer"])
        #expect(try snapshot(call, "Viewer").downlink.bitRate > 0)
    }

    @Test("Without feedback, each frame leaves within 20 ms, keyframes among them, at the rate on average")
    func pace() throws {
        let call = VirtualCall {
            $0.canvas = VideoDimensions(width: 640, height: 360)
            $0.rateLimits = RateLimits(minimum: .kilobits(100), start: .kilobits(800), maximum: .kilobits(800))
        }
        let ada = try call.join("Ada", colour: .red, dimensions: VideoDimensions(width: 320, height: 180))
        ada.pictures = Texture.pictures
        let address = TransportAddress(ipv4: 0x7F00_0001, port: 50_000)
        try joinSilently(call, from: address, withoutFeedback: true)
        call.run(for: .seconds(3))
        // By RTP timestamp, which is not encrypted: when the packets of a frame left, and their bytes.
        var frames: [UInt32: (first: MonotonicInstant, last: MonotonicInstant, bytes: Int)] = [:]
        call.onUnclaimed = { transmit, now in
            let datagram = transmit.datagram
            guard DatagramKind.classify(datagram) == .rtp, datagram.readableBytes > 12,
                let type = datagram.getInteger(at: datagram.readerIndex + 1, as: UInt8.self), type & 0x7F == 96,
                let timestamp = datagram.getInteger(at: datagram.readerIndex + 4, as: UInt32.self)
            else { return }
            let frame = frames[timestamp] ?? (now, now, 0)
            frames[timestamp] = (frame.first, now, frame.bytes + datagram.readableBytes)
        }
        call.run(for: .seconds(10))
        #expect(frames.count > 145)
        // A keyframe comes every two seconds.
        #expect(frames.values.count { $0.bytes > 6000 } >= 4)
        let longest = frames.values.map { $0.last - $0.first }.max()
        #expect(try #require(longest) <= .milliseconds(20))
        let bytes = frames.values.reduce(0) { $0 + $1.bytes }
        #expect((650...820).contains(bytes * 8 / 10_000), "\(bytes * 8 / 10_000) kbit/s")
    }

    @Test("A silent receiver gets nothing after 15 s, and media resumes with its next packet")
    func fallsSilent() throws {
        let call = VirtualCall { $0.idleTimeout = .seconds(60) }
        try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", video: .receiveOnly, audio: .receiveOnly, role: .watch)
        call.run(for: .seconds(5))
        #expect(ben.picture != nil)
        call.drops = { _, isDownlink, client in !isDownlink && client === ben }
        call.run(for: .seconds(12))
        #expect(try snapshot(call, "Ben").connection == .connected)
        call.run(for: .seconds(5))
        let before = ben.bytesReceived
        call.run(for: .seconds(10))
        #expect(ben.bytesReceived == before)
        let silent = try snapshot(call, "Ben")
        #expect(silent.connection == .reconnecting)
        #expect(silent.downlink.explanation?.contains("no authentic packet has come from it for 15 s") == true)

        call.drops = { _, _, _ in false }
        let pictures = ben.arrivals.count
        call.run(for: .seconds(5))
        #expect(try snapshot(call, "Ben").connection == .connected)
        #expect(ben.arrivals.count - pictures > 30)
        #expect(ben.decodeFailures == 0)
    }

    @Test("A receiver that stays silent leaves after the idle timeout")
    func staysSilent() throws {
        let call = VirtualCall()
        try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", video: .receiveOnly, audio: .receiveOnly, role: .watch)
        call.run(for: .seconds(5))
        call.drops = { _, isDownlink, client in !isDownlink && client === ben }
        call.run(for: .seconds(33))
        #expect(names(call) == ["Ada"])
    }

    @Test("Nobody leaves because the relay itself stood still; those that are silent afterwards do")
    func standstill() throws {
        let call = VirtualCall()
        let ben = try call.join("Ben", video: .receiveOnly, audio: .receiveOnly, role: .watch)
        try call.join("Cy", video: .receiveOnly, audio: .receiveOnly, role: .watch)
        call.run(for: .seconds(5))
        call.standStill(for: .seconds(300))
        call.drops = { _, isDownlink, client in !isDownlink && client === ben }
        call.run(for: .seconds(9))
        #expect(names(call) == ["Ben", "Cy"])
        call.run(for: .seconds(2))
        #expect(names(call) == ["Cy"])
    }

    @Test("Packets that do not authenticate keep no media flowing")
    func garbage() throws {
        let call = VirtualCall { $0.idleTimeout = .seconds(60) }
        try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", video: .receiveOnly, audio: .receiveOnly, role: .watch)
        var recorded: [ByteBuffer] = []
        call.drops = { datagram, isDownlink, client in
            if !isDownlink, client === ben { recorded.append(datagram) }
            return false
        }
        call.run(for: .seconds(5))
        call.drops = { _, isDownlink, client in !isDownlink && client === ben }
        for _ in 0..<20 {
            call.run(for: .seconds(1))
            for datagram in recorded { call.inject(datagram, from: ben.address) }
        }
        #expect(try snapshot(call, "Ben").connection == .reconnecting)
    }
}
