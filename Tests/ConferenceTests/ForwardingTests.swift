import Compositing
import CongestionControl
import Foundation
import LinkEmulation
import MediaCore
import MediaFixtures
import NIOCore
import RoomAPI
import SDP
import SecureTransport
import Testing

@testable import Conference
@testable import PeerConnection

/// Receivers who are sent a source's own packets, with the real controllers on virtual time.
@Suite struct ForwardingTests {
    private func makeCall(configure: (inout RelayConfiguration) -> Void = { _ in }) -> VirtualCall {
        VirtualCall {
            $0.forwarding = .auto
            $0.frameRate = 30
            $0.rateLimits = RateLimits(minimum: .kilobits(100), start: .kilobits(600), maximum: .megabits(2))
            configure(&$0)
        }
    }

    @discardableResult
    private func join(
        _ call: VirtualCall, _ name: String, colour: Colour, rate: BitRate = .kilobits(500),
        downlink: LinkProfile = LinkProfile(rate: .fixed(.megabits(3)), delay: .milliseconds(10)),
        adjust: (inout OfferParameters) -> Void = { _ in }
    ) throws -> TestClient {
        let client = try call.join(
            name, colour: colour, audio: nil, dimensions: VideoDimensions(width: 320, height: 180), downlink: downlink,
            rateLimits: RateLimits(minimum: rate, start: rate, maximum: rate), adjust: adjust)
        client.frameRate = 30
        client.pictures = Texture.pictures
        client.recordsFrames = true
        return client
    }

    private func room(_ call: VirtualCall) throws -> Room { try #require(call.relay.rooms["demo"]) }

    private func participant(_ client: TestClient, _ call: VirtualCall) throws -> Participant {
        try #require(try room(call).participants.first { $0.publicID == client.participantID })
    }

    private func link(_ client: TestClient, _ call: VirtualCall) throws -> ForwardingLink {
        try #require(try room(call).forwarding.link(of: participant(client, call).id))
    }

    private func isPassed(_ client: TestClient, _ call: VirtualCall) throws -> Bool {
        try link(client, call).isPassing
    }

    /// The longest time between two frames that came from an instant on.
    private func longestGap(_ client: TestClient, from start: MonotonicInstant) -> Duration {
        let arrivals = client.arrivals.filter { $0 >= start }
        return zip(arrivals, arrivals.dropFirst()).map { $1 - $0 }.max() ?? .seconds(99)
    }

    @Test("a receiver whose path does not carry another's frames any more wakes the room's paused ticks")
    func fallsBackInPause() throws {
        let call = makeCall()
        try join(call, "Ada", colour: .red)
        let ben = try join(call, "Ben", colour: .blue)
        let room = try room(call)
        let isResting = call.run(until: {
            room.forwarding.receiverCount == 2 && room.videoTicks.isPaused && !room.needsWaking
        })
        #expect(isResting)
        let rate = VideoBitRate(target: .kilobits(20), sustained: .kilobits(20))
        room.videoBitRateChanged(rate, for: try participant(ben, call), now: call.now)
        #expect(room.needsWaking && room.nextTick <= call.now + room.tickInterval)
    }

    @Test("two people in a call get each other's own frames, byte by byte, and nothing is encoded or composed")
    func twoInACall() throws {
        let call = makeCall()
        let (ada, ben) = (try join(call, "Ada", colour: .red), try join(call, "Ben", colour: .blue))
        call.run(for: .seconds(6))
        let link = try link(ben, call)
        #expect(link.isPassing, "\(link.phase) \(String(describing: link.obstacle))")
        let before = try room(call).encoders.counters.frames
        let composed = try room(call).composition.composedPictures
        let count = ben.frames.count
        call.run(for: .seconds(4))
        #expect(try room(call).encoders.counters.frames == before)
        #expect(try room(call).composition.composedPictures == composed)
        #expect(try room(call).encoders.groups.isEmpty)
        let got = Array(ben.frames[count...])
        #expect(got.count >= 119, "\(got.count)")
        let sent = ada.sentFrames.map(\.bytes)
        let first = try #require(sent.firstIndex(of: got[0]))
        let isSame = Array(sent[first..<min(sent.count, first + got.count)]) == got
        #expect(isSame)
        for client in [ada, ben] {
            #expect(client.decodeFailures == 0)
            #expect(longestGap(client, from: client.arrivals[30]) < .milliseconds(200))
            let isInOrder = zip(client.times, client.times.dropFirst()).allSatisfy { $0 < $1 }
            #expect(isInOrder)
        }
        let forwarding = try participant(ben, call).peer.forwardingLatency
        let slow = zip(LatencyHistogram.bucketBounds + [.infinity], forwarding.counts).filter { $0.0 > 4 }
        #expect(slow.map(\.1).reduce(0, +) * 20 < forwarding.count, "\(forwarding.counts)")
    }

    @Test("a dip to a third of the rate for 20 s is bridged by an encoder, without a freeze over 200 ms")
    func dip() throws {
        let call = makeCall()
        let start = call.now
        let rates = [
            LinkRate.Step(at: .zero, rate: .megabits(1)), LinkRate.Step(at: .seconds(8), rate: .kilobits(170)),
            LinkRate.Step(at: .seconds(28), rate: .megabits(1)),
        ]
        try join(call, "Ada", colour: .red)
        let ben = try join(
            call, "Ben", colour: .blue,
            downlink: LinkProfile(rate: .steps(rates), delay: .milliseconds(20), queue: .duration(.seconds(2))))
        call.run(for: .milliseconds(7900))
        #expect(try isPassed(ben, call))
        call.run(for: .seconds(2))
        #expect(try !isPassed(ben, call))
        call.run(for: .seconds(24))
        #expect(try isPassed(ben, call))
        #expect(
            longestGap(ben, from: start + .seconds(3)) <= .milliseconds(200),
            "\(longestGap(ben, from: start + .seconds(3)))")
        #expect(ben.decodeFailures == 0)
        let isInOrder = zip(ben.times, ben.times.dropFirst()).allSatisfy { $0 < $1 }
        #expect(isInOrder)
    }

    @Test("with a third participant the picture comes from an encoder within half a second, until the third leaves")
    func thirdParticipant() throws {
        let call = makeCall()
        let ada = try join(call, "Ada", colour: .red)
        let ben = try join(call, "Ben", colour: .blue)
        call.run(for: .seconds(6))
        #expect(try isPassed(ada, call) && isPassed(ben, call))
        let joined = call.now
        let cy = try call.join("Cy", colour: .green, audio: nil)
        let isEncoded = { (try? self.link(ben, call).phase) == .encoded }
        #expect(call.run(until: isEncoded, limit: .milliseconds(500)))
        call.run(for: .seconds(2))
        let picture = try #require(ben.picture)
        #expect(picture.colour(x: 240, y: 90).resembles(.green))
        #expect(call.relay.leave(room: "demo", participant: cy.participantID, now: call.now))
        call.remove(cy)
        #expect(call.run(until: { (try? self.isPassed(ben, call)) == true }, limit: .seconds(6)))
        call.run(for: .seconds(1))
        for client in [ada, ben] {
            #expect(longestGap(client, from: joined) <= .milliseconds(200), "\(longestGap(client, from: joined))")
            #expect(client.decodeFailures == 0)
            let isInOrder = zip(client.times, client.times.dropFirst()).allSatisfy { $0 < $1 }
            #expect(isInOrder)
        }
    }

    @Test("something laid over the picture makes it an encoder's")
    func overlay() throws {
        let call = makeCall()
        try join(call, "Ada", colour: .red)
        let ben = try join(call, "Ben", colour: .blue)
        call.run(for: .seconds(6))
        #expect(try isPassed(ben, call))
        let overlays = try JSONDecoder().decode(
            OverlayList.self, from: Data(#"[{"text":"Live","anchor":"top-left"}]"#.utf8))
        try room(call).setOverlays(overlays)
        call.run(for: .milliseconds(500))
        #expect(try link(ben, call).phase == .encoded)
        try room(call).setOverlays(OverlayList())
        call.run(for: .seconds(4))
        #expect(try isPassed(ben, call))
    }

    @Test("a camera that is turned off is not passed through for a moment longer")
    func cameraOff() throws {
        let call = makeCall()
        let ada = try join(call, "Ada", colour: .red)
        let ben = try join(call, "Ben", colour: .blue)
        call.run(for: .seconds(6))
        let packets = try link(ben, call).packets
        try room(call).setMediaState(MediaState(camera: false), of: participant(ada, call), now: call.now)
        call.run(for: .seconds(1))
        // At most the packets that came until the next tick.
        #expect(try link(ben, call).packets <= packets + 10)
        #expect(try link(ben, call).phase == .encoded)
    }

    @Test("when a further offer puts a participant's video into other streams, pictures go on both ways")
    func otherStreams() throws {
        let call = makeCall()
        let (ada, ben) = (try join(call, "Ada", colour: .red), try join(call, "Ben", colour: .blue))
        call.run(for: .seconds(6))
        #expect(try isPassed(ada, call) && isPassed(ben, call))
        // Nothing of the former stream is on its way.
        call.drops = { _, isDownlink, client in !isDownlink && client === ada }
        call.run(for: .milliseconds(50))
        // A line with another identification has other streams: here one with none.
        try call.renegotiate(ada) { $0.bundle = false }
        call.drops = { _, _, _ in false }
        call.run(for: .seconds(4))
        let before = [ada, ben].map(\.arrivals.count)
        call.run(for: .seconds(1))
        for (client, count) in zip([ada, ben], before) {
            #expect(client.arrivals.count - count >= 25, "\(client.name): \(client.arrivals.count - count)")
        }
    }

    @Test("a receiver whose level is below the sender's stream gets an encoder's frames, and the reason")
    func levelMismatch() throws {
        let call = makeCall()
        let low = H264ProfileLevelID(.constrainedBaseline, level: H264ProfileLevelID.Level(idc: 11))
        try join(call, "Ada", colour: .red)
        let ben = try join(call, "Ben", colour: .blue) {
            $0.video?.formats = [
                OfferParameters.VideoFormat(
                    payloadType: 98, parameters: H264FormatParameters(profileLevelID: low, packetizationMode: 1))
            ]
        }
        call.run(for: .seconds(6))
        #expect(try link(ben, call).obstacle == .level)
        #expect(ben.arrivals.count > 60)
        let downlink = try #require(
            call.relay.snapshot(room: "demo", now: call.now)?.participants.first { $0.id == ben.participantID }?
                .downlink)
        #expect(downlink.forwarding == nil)
        #expect(downlink.explanation?.contains("above the receiver's level") ?? false, "\(downlink.explanation ?? "")")
    }

    @Test("a receiver that requests no keyframes gets an encoder's frames, and the reason is not the sender's alone")
    func askingForNothing() throws {
        let call = makeCall()
        try join(call, "Ada", colour: .red)
        let ben = try join(call, "Ben", colour: .blue) {
            $0.video?.feedback.pli = false
            $0.video?.feedback.fir = false
        }
        call.run(for: .seconds(6))
        #expect(try link(ben, call).obstacle == .keyframes)
        let explanation = try #require(
            call.relay.snapshot(room: "demo", now: call.now)?.participants.first { $0.id == ben.participantID }?
                .downlink.explanation)
        #expect(explanation.contains("or the receiver sends none"), "\(explanation)")
    }

    @Test("packets lost on either side are sent again", arguments: [true, false])
    func loss(onDownlink: Bool) throws {
        let call = makeCall()
        let ada = try join(call, "Ada", colour: .red)
        let ben = try join(call, "Ben", colour: .blue)
        call.run(for: .seconds(6))
        var random = SeededGenerator(seed: 11)
        call.drops = { datagram, isDownlink, client in
            // Video, which is larger than anything else.
            datagram.readableBytes > 300 && isDownlink == onDownlink && client === (onDownlink ? ben : ada)
                && Int.random(in: 0..<100, using: &random) < 3
        }
        let (start, count) = (call.now, ben.frames.count)
        let keyframes = ben.keyframesReceived
        call.run(for: .seconds(10))
        #expect(try isPassed(ben, call))
        #expect(ben.decodeFailures == 0)
        #expect(ben.frames.count - count >= 295, "\(ben.frames.count - count)")
        #expect(ben.keyframesReceived == keyframes)
        #expect(longestGap(ben, from: start) <= .milliseconds(200), "\(longestGap(ben, from: start))")
        let tail = Array(ben.frames.suffix(100))
        let sent = ada.sentFrames.map(\.bytes)
        let first = try #require(sent.firstIndex(of: tail[0]))
        let isSame = Array(sent[first..<min(sent.count, first + 100)]) == tail
        #expect(isSame)
    }

    @Test("a request for a keyframe goes to the sender, and a receiver that keeps asking gets an encoder's frames")
    func keyframeRequests() throws {
        let call = makeCall()
        try join(call, "Ada", colour: .red)
        let ben = try join(call, "Ben", colour: .blue)
        call.run(for: .seconds(6))
        let before = ben.keyframesReceived
        ben.peer.requestKeyframe(now: call.now)
        call.run(for: .milliseconds(300))
        #expect(ben.keyframesReceived == before + 1)
        #expect(try isPassed(ben, call))
        for _ in 0..<6 {
            ben.peer.requestKeyframe(now: call.now)
            call.run(for: .milliseconds(400))
        }
        #expect(try !isPassed(ben, call))
        #expect(try link(ben, call).obstacle == .manyRequests)
    }

    @Test("a source that nobody's picture needs is decoded for its keyframes only")
    func decoding() throws {
        let call = makeCall()
        let ada = try join(call, "Ada", colour: .red)
        try join(call, "Ben", colour: .blue)
        call.run(for: .seconds(6))
        let decoded = try participant(ada, call).uplink?.framesDecoded
        call.run(for: .seconds(3))
        #expect(try participant(ada, call).uplink?.framesDecoded == decoded)
        let room = try #require(call.relay.snapshot(room: "demo", now: call.now))
        #expect(room.forwarding.receivers == 2)
        #expect(room.forwarding.packets > 500, "\(room.forwarding.packets)")
        #expect(room.participants.map(\.downlink.width) == [320, 320])
    }

    @Test("all of many watchers of one sender get its packets, and one of them falls back alone")
    func watchers() throws {
        let call = makeCall()
        try join(call, "Ada", colour: .red)
        let watchers = try (0..<3).map { index in
            try call.join(
                "Watcher \(index)", video: .receiveOnly, audio: nil,
                downlink: LinkProfile(
                    rate: index == 1
                        ? .steps([
                            LinkRate.Step(at: .zero, rate: .megabits(2)),
                            LinkRate.Step(at: .seconds(7), rate: .kilobits(200)),
                        ]) : .fixed(.megabits(3)), delay: .milliseconds(20), queue: .duration(.seconds(2))))
        }
        call.run(for: .seconds(6))
        for watcher in watchers { #expect(try isPassed(watcher, call)) }
        call.run(for: .seconds(3))
        #expect(try watchers.map { try isPassed($0, call) } == [true, false, true])
        let fallen = try #require(call.relay.snapshot(room: "demo", now: call.now)?.encoding.groups).filter {
            $0.members.contains(watchers[1].participantID)
        }
        #expect(fallen.map(\.members) == [[watchers[1].participantID]])
    }
}
