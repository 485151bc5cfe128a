import Compositing
import CongestionControl
import MediaCore
import MediaFixtures
import NIOCore
import RTP
import RoomAPI
import SDP
import SecureTransport
import Testing

@testable import Conference
@testable import PeerConnection

/// The rates that senders are asked for, and the cost of their streams, in rooms on virtual time.
@Suite struct UplinkTests {
    private static let source = VideoDimensions(width: 640, height: 360)

    /// A room of people who each send a 640x360 picture of one colour, 5 times a second.
    ///
    /// - Parameter maximum: The most that a receiver is sent: by default so little that the tiles' sizes decide.
    private func room(
        _ count: Int, canvas: VideoDimensions = VideoDimensions(width: 960, height: 540),
        maximum: BitRate = .kilobits(400), adjust: (inout OfferParameters) -> Void = { _ in }
    ) throws -> (VirtualCall, [TestClient]) {
        let call = VirtualCall { configuration in
            configuration.rateLimits = RateLimits(minimum: .kilobits(100), start: .kilobits(300), maximum: maximum)
            configuration.canvas = canvas
            configuration.selfView = .always
            configuration.maximumEncoders = 1
            configuration.transitions = .off
        }
        let colours: [Colour] = [.red, .green, .blue, .yellow]
        let pictures = colours.map { colour in
            (0..<2).map { PixelBuffer.pattern(colour, dimensions: Self.source, phase: $0) }
        }
        let clients = try (0..<count).map { index in
            let client = try call.join(
                "P\(index)", colour: colours[index % 4], audio: nil, dimensions: Self.source
            ) {
                $0.video?.feedback = .video
                adjust(&$0)
            }
            client.pictures = pictures[index % 4]
            client.frameRate = 5
            return client
        }
        return (call, clients)
    }

    private func uplink(_ client: TestClient, _ call: VirtualCall) throws -> UplinkSnapshot {
        let room = try #require(call.relay.snapshot(room: "demo", now: call.now))
        return try #require(room.participants.first { $0.id == client.participantID }).uplink
    }

    private func price(of tile: VideoDimensions) -> UplinkPrice {
        let source = UplinkPrice.Source(tile: tile, size: Self.source, frameRate: 15, content: .camera)
        return UplinkPrice(rate: UplinkPrice.rate(of: source, shown: .zero))
    }

    private func limit(of tile: VideoDimensions) -> BitRate { price(of: tile).bound(now: .zero) }

    @Test("nine senders in a grid are asked by TMMBR for the rates of their tiles, and decoded with less filtering")
    func nineInAGrid() throws {
        let (call, clients) = try room(9)
        call.run(for: .seconds(4))
        for client in clients { #expect(client.peer.requestedVideoLimit == nil, "it finds out what its path carries") }
        call.run(for: .milliseconds(1500))
        let expected = limit(of: VideoDimensions(width: 320, height: 180))
        for client in clients {
            let asked = try #require(client.peer.requestedVideoLimit)
            #expect(asked < expected && asked > expected * 0.9)
            #expect(try #require(client.bitRates.last) <= asked)
            let uplink = try uplink(client, call)
            #expect(uplink.maximumBitRate == expected.bitsPerSecond)
            #expect(uplink.skipMode == .filteredReferences)
            #expect(uplink.framesSkipped == 0 && uplink.framesDropped == 0)
        }
    }

    @Test("senders that know REMB alone are asked by that, for all that they send")
    func byEstimates() throws {
        let (call, clients) = try room(4) { $0.video?.feedback.tmmbr = false }
        call.run(for: .milliseconds(6500))
        let expected = limit(of: VideoDimensions(width: 480, height: 270))
        for client in clients {
            #expect(client.peer.requestedVideoLimit == nil)
            let rate = try #require(client.bitRates.last)
            #expect(rate <= expected && rate > expected * 0.8)
        }
    }

    @Test("a pinned participant is asked for a large picture, and decoded in full, within half a second")
    func pinned() throws {
        let (call, clients) = try room(4)
        call.run(for: .milliseconds(5500))
        #expect(try uplink(clients[1], call).maximumBitRate == limit(of: .init(width: 480, height: 270)).bitsPerSecond)
        try call.relay.perform(.setLayout(.solo(participant: clients[1].participantID)), room: "demo", now: call.now)
        let whole = limit(of: .init(width: 960, height: 540))
        #expect(
            call.run(
                until: { clients[1].peer.requestedVideoLimit.map { $0 > whole } ?? false },
                limit: .milliseconds(500)))
        let withRoomForProbe = try uplink(clients[1], call)
        let expected = price(of: .init(width: 960, height: 540)).rate * 2
        #expect(withRoomForProbe.maximumBitRate == expected.bitsPerSecond && withRoomForProbe.skipMode == .full)
        // Ticks move to the source's phase: the one that ends this may come an interval later than in three seconds.
        call.run(for: .seconds(3) + .milliseconds(100))
        #expect(try uplink(clients[1], call).maximumBitRate == whole.bitsPerSecond)
        #expect(clients[1].bitRates.last.map { $0 > limit(of: .init(width: 480, height: 270)) } ?? false)
    }

    @Test("a source that is shown at full size is asked for as much as its best receiver's encoder spends on it")
    func bestReceiver() throws {
        let (call, clients) = try room(2, canvas: Self.source, maximum: .megabits(2))
        try call.relay.perform(.setLayout(.solo(participant: clients[1].participantID)), room: "demo", now: call.now)
        call.run(for: .seconds(15))
        let room = try #require(call.relay.snapshot(room: "demo", now: call.now))
        let spent = try #require(room.participants.map(\.downlink.groupBitRate).max())
        let asked = try #require(try uplink(clients[1], call).maximumBitRate)
        #expect(spent > 1_500_000)
        #expect(asked > limit(of: Self.source).bitsPerSecond * 2)
        #expect(asked < spent * 13 / 10 + 1)
        // A slow receiver does not change the rate that is asked for on behalf of the other.
        #expect(asked >= spent / 2)
    }

    @Test(
        "a sender that nobody watches is asked for a rate that keeps its size, and is unlimited once it is watched"
    )
    func watched() throws {
        let (call, clients) = try room(2, canvas: Self.source, maximum: .megabits(2)) {
            $0.video?.feedback.tmmbr = false
        }
        let ada = clients[0].participantID
        try call.relay.perform(.setLayout(RoomLayout(.grid, hidden: [ada])), room: "demo", now: call.now)
        call.run(for: .seconds(10))
        let unseen = try #require(try uplink(clients[0], call).maximumBitRate)
        #expect(unseen == limit(of: .init(width: 0, height: 0)).bitsPerSecond && unseen >= 300_000)
        try call.relay.perform(.setLayout(.solo(participant: ada)), room: "demo", now: call.now)
        let full = limit(of: Self.source).bitsPerSecond
        #expect(
            call.run(
                until: { ((try? uplink(clients[0], call).maximumBitRate) ?? 0) > full },
                limit: .milliseconds(500)))
        #expect(
            call.run(
                until: { (clients[0].bitRates.last?.bitsPerSecond ?? 0) > unseen }, limit: .milliseconds(500)),
            "the sender knows within half a second")
    }

    @Test("sixty in a grid are asked for no more than sixty of the least rate")
    func sixty() throws {
        let call = VirtualCall { configuration in
            configuration.canvas = VideoDimensions(width: 1280, height: 720)
            configuration.transitions = .off
            configuration.maximumParticipants = 60
            configuration.rateLimits = RateLimits(
                minimum: .kilobits(100), start: .megabits(2.5), maximum: .megabits(2.5))
        }
        for index in 0..<60 {
            let client = try call.join(
                "P\(index)", colour: .red, video: index == 0 ? .sendAndReceive : .sendOnly, audio: nil
            ) { $0.video?.feedback = .video }
            client.frameRate = 1
            // Clients of one address connect before many more of them join.
            if index % 20 == 19 { call.run(for: .milliseconds(100)) }
        }
        call.run(for: .milliseconds(5500))
        let room = try #require(call.relay.snapshot(room: "demo", now: call.now))
        let bounds = room.participants.dropFirst().compactMap(\.uplink.maximumBitRate)
        #expect(bounds.count == 59)
        // 120 kbit/s with head-room.
        #expect(bounds.allSatisfy { $0 == 156_000 }, "\(bounds)")
    }

    @Test(
        "a source that nobody sees is decoded at keyframes only, without losses and requests, and is back within 500 ms"
    )
    func unseen() throws {
        let (call, clients) = try room(3, canvas: VideoDimensions(width: 320, height: 180))
        let ben = clients[1]
        call.run(for: .seconds(2))
        #expect(try #require(clients[0].picture).share(of: .green) > 0.1)
        try call.relay.perform(.setLayout(RoomLayout(.grid, hidden: [ben.participantID])), room: "demo", now: call.now)
        call.run(for: RequestedLayer.patience + .milliseconds(500))
        let before = try uplink(ben, call)
        #expect(before.skipMode == .keyframes)
        call.run(for: .seconds(3))
        let after = try uplink(ben, call)
        #expect(after.framesDecoded == before.framesDecoded)
        #expect(after.framesSkipped >= before.framesSkipped + 14)
        #expect(after.framesDropped == 0 && after.keyframeRequests == before.keyframeRequests)
        #expect(after.maximumBitRate == limit(of: .init(width: 0, height: 0)).bitsPerSecond)
        var timeline = try #require(call.relay.timeline(ofRoom: "demo", now: call.now))
        #expect(timeline.sources[1].states.last?.state == .unseen)
        #expect(timeline.sources[1].skipped.reduce(0) { $0 + Int($1) } > 14)

        try call.relay.perform(.setLayout(.grid), room: "demo", now: call.now)
        let isBack = call.run(
            until: { (clients[0].picture?.share(of: .green) ?? 0) > 0.1 }, limit: .milliseconds(500))
        #expect(isBack)
        call.run(for: .milliseconds(1500))
        let back = try uplink(ben, call)
        #expect(back.skipMode != .keyframes && back.framesDropped == 0)
        #expect((1...2).contains(back.keyframeRequests - after.keyframeRequests))
        timeline = try #require(call.relay.timeline(ofRoom: "demo", now: call.now))
        #expect(timeline.sources[1].states.last?.state == .playing)
        let states = timeline.sources[1].states.map(\.state)
        #expect(states.suffix(2) == [.unseen, .playing], "neither frozen nor gone in between")
    }

    @Test("a sender that nobody sees is asked for nothing when its packets are lost")
    func unseenLoss() throws {
        let (call, clients) = try room(2, canvas: VideoDimensions(width: 320, height: 180))
        let ben = clients[1]
        try call.relay.perform(.setLayout(RoomLayout(.grid, hidden: [ben.participantID])), room: "demo", now: call.now)
        call.run(for: .seconds(4))
        let before = try uplink(ben, call)
        var count = 0
        call.drops = { datagram, isDownlink, client in
            guard !isDownlink, client === ben, datagram.readableBytes > 150 else { return false }
            count += 1
            return count.isMultiple(of: 2)
        }
        call.run(for: .seconds(3))
        let after = try uplink(ben, call)
        #expect(after.packetsLost > before.packetsLost)
        #expect(after.keyframeRequests == before.keyframeRequests)
        call.drops = { _, _, _ in false }
        try call.relay.perform(.setLayout(.grid), room: "demo", now: call.now)
        #expect(
            call.run(until: { (clients[0].picture?.share(of: .green) ?? 0) > 0.1 }, limit: .milliseconds(500)))
    }

    @Test("a camera that nobody sees is asked for no keyframes either when it has been off and on again")
    func unseenAgain() throws {
        let (call, clients) = try room(2, canvas: VideoDimensions(width: 320, height: 180))
        let ben = clients[1]
        call.run(for: .seconds(2))
        try call.relay.perform(.setLayout(RoomLayout(.grid, hidden: [ben.participantID])), room: "demo", now: call.now)
        call.run(for: RequestedLayer.patience + .milliseconds(500))
        let participant = try #require(call.relay.rooms["demo"]?.participant(publicID: ben.participantID))
        #expect(participant.peer.isUnseen(.main))
        try call.renegotiate(ben) { $0.video?.direction = .receiveOnly }
        call.run(for: .seconds(1))
        try call.renegotiate(ben) { $0.video?.direction = .sendAndReceive }
        call.run(for: .seconds(1))
        #expect(participant.peer.isUnseen(.main))
    }

    @Test("a sender that cannot be asked for keyframes is decoded on, seen or not")
    func withoutKeyframeRequests() throws {
        let (call, clients) = try room(2, canvas: VideoDimensions(width: 320, height: 180)) {
            $0.video?.feedback.pli = false
            $0.video?.feedback.fir = false
        }
        let ben = clients[1]
        try call.relay.perform(.setLayout(RoomLayout(.grid, hidden: [ben.participantID])), room: "demo", now: call.now)
        call.run(for: .seconds(4))
        #expect(try uplink(ben, call).skipMode == .referenceFrames)
        let before = try uplink(ben, call).framesDecoded
        call.run(for: .seconds(1))
        #expect(try uplink(ben, call).framesDecoded > before)
    }

    @Test("of the views of several receivers the largest counts")
    func largestCounts() throws {
        let (call, clients) = try room(4)
        try call.relay.perform(
            .setParticipantLayout(
                ParticipantLayout(.solo(participant: clients[2].participantID)), participant: clients[0].participantID),
            room: "demo", now: call.now)
        call.run(for: .milliseconds(5500))
        #expect(try uplink(clients[2], call).maximumBitRate == limit(of: .init(width: 960, height: 540)).bitsPerSecond)
        #expect(try uplink(clients[1], call).maximumBitRate == limit(of: .init(width: 480, height: 270)).bitsPerSecond)
        // The one who saw it large leaves.
        _ = call.relay.leave(room: "demo", participant: clients[0].participantID, now: call.now)
        call.remove(clients[0])
        call.run(for: RequestedLayer.patience + .milliseconds(300))
        #expect(try uplink(clients[2], call).maximumBitRate == limit(of: .init(width: 480, height: 270)).bitsPerSecond)
    }

    @Test("a receiver that asks for a lower rate by TMMBR gets it, and a confirmation")
    func requestToTheRelay() throws {
        let call = VirtualCall()
        let ada = try call.join(
            "Ada", colour: .red,
            rateLimits: .init(minimum: .kilobits(100), start: .kilobits(300), maximum: .megabits(1))
        ) { $0.video?.feedback = .video }
        try call.join("Ben", colour: .green)
        call.run(for: .seconds(3))
        ada.peer.limitReceivedVideo(to: .kilobits(150))
        call.run(for: .seconds(2))
        let room = try #require(call.relay.snapshot(room: "demo", now: call.now))
        #expect(room.participants[0].downlink.videoBitRate < 150_000)
        #expect(room.participants[0].downlink.videoBitRate > 130_000)
        #expect(ada.peer.lines.contains { $0.limits.confirmedSource != nil })
    }
}
