import MediaCore
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
    private func joinSilently(_ call: VirtualCall, from address: TransportAddress = remote) throws {
        var random = SeededGenerator(seed: 11)
        var parameters = OfferParameters(address: address)
        parameters.video = OfferParameters.Video(direction: .receiveOnly)
        parameters.audio = OfferParameters.Audio(direction: .receiveOnly)
        let text = OfferAnswer.makeOffer(parameters, using: &random).0.encode()
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
        #expect(try snapshot(call, "Viewer").downlink.bitRate > 0)
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

    @Test("A receiver that falls silent is sent nothing after 15 s, and media goes on with its next packet")
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
