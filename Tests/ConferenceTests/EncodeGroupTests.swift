import Conference
import CongestionControl
import LinkEmulation
import MediaCore
import MediaFixtures
import RoomAPI
import SDP
import SecureTransport
import Testing

@testable import PeerConnection

/// Receivers who share an encoder, with the real encoders and controllers on virtual time.
@Suite struct EncodeGroupTests {
    private func makeCall(encoders: Int?, start: BitRate = .kilobits(500), maximum: BitRate = .kilobits(600))
        -> VirtualCall
    {
        VirtualCall {
            $0.maximumEncoders = encoders
            $0.rateLimits = RateLimits(minimum: .kilobits(100), start: start, maximum: maximum)
        }
    }

    /// A camera, and the members that watch it.
    private func join(
        _ call: VirtualCall, watchers: Int,
        downlink: (Int) -> LinkProfile = { _ in
            LinkProfile(rate: .unlimited, delay: .milliseconds(10))
        }
    ) throws -> [TestClient] {
        let camera = try call.join(
            "Camera", colour: .red, video: .sendOnly, audio: nil, dimensions: VideoDimensions(width: 320, height: 180),
            rateLimits: RateLimits(minimum: .megabits(3), start: .megabits(3), maximum: .megabits(4)))
        camera.pictures = Texture.pictures
        return try (0..<watchers).map { index in
            let watcher = try call.join("Watcher \(index)", video: .receiveOnly, audio: nil, downlink: downlink(index))
            watcher.recordsFrames = true
            return watcher
        }
    }

    private func snapshot(_ call: VirtualCall) throws -> RoomSnapshot {
        try #require(call.relay.snapshot(room: "demo", now: call.now))
    }

    private func downlink(_ client: TestClient, _ call: VirtualCall) throws -> DownlinkSnapshot {
        try #require(try snapshot(call).participants.first { $0.id == client.participantID }?.downlink)
    }

    @Test("five receivers on equal paths share one encoder: one encode a tick, and the same frames to all")
    func equalPathsShare() throws {
        let call = makeCall(encoders: 2)
        let watchers = try join(call, watchers: 5)
        call.run(for: .seconds(6))
        let room = try snapshot(call)
        #expect(room.encoding.groups.count == 1)
        #expect(room.encoding.groups.first?.members.count == 5)
        #expect(room.encoding.frames <= room.ticks + 2, "\(room.encoding.frames) frames in \(room.ticks) ticks")
        for watcher in watchers {
            #expect(watcher.arrivals.count > 80)
            #expect(watcher.decodeFailures == 0)
            let isSame = watcher.frames.suffix(20) == watchers[0].frames.suffix(20)
            #expect(isSame)
        }
        #expect(try downlink(watchers[0], call).explanation?.contains("shares an encoder with 4") ?? false)
    }

    @Test("many members that join one after the other share the existing encoders, and all get pictures")
    func manyCome() throws {
        let call = makeCall(encoders: 2)
        var clients: [TestClient] = []
        for index in 0..<7 {
            clients.append(try call.join("P\(index)", colour: .red, audio: nil, selfView: .always))
            call.run(for: .milliseconds(150))
        }
        call.run(for: .seconds(3))
        #expect(try snapshot(call).encoding.groups.count <= 2)
        for client in clients { #expect(client.arrivals.count > 20, "\(client.name)") }
    }

    @Test("with enough encoders, everyone has one")
    func dedicated() throws {
        let call = makeCall(encoders: nil)
        _ = try join(call, watchers: 3)
        call.run(for: .seconds(3))
        #expect(try snapshot(call).encoding.groups.count == 3)
    }

    @Test(
        "a receiver whose path falls is in its own rate's group within 2 s, and the others' frames are as without it"
    )
    func oneFalls() throws {
        func run(falls: Bool) throws -> (call: VirtualCall, watchers: [TestClient], start: MonotonicInstant) {
            let call = makeCall(encoders: 2, start: .megabits(1), maximum: .megabits(2))
            let fall = [
                LinkRate.Step(at: .zero, rate: .megabits(3)), LinkRate.Step(at: .seconds(10), rate: .kilobits(300)),
            ]
            let watchers = try join(call, watchers: 3) { index in
                LinkProfile(
                    rate: index == 1 && falls ? .steps(fall) : .fixed(.megabits(3)), delay: .milliseconds(20),
                    queue: .duration(.seconds(2)))
            }
            let start = call.now
            call.run(for: .seconds(12))
            return (call, watchers, start)
        }
        let (call, watchers, start) = try run(falls: true)
        let (_, untouched, _) = try run(falls: false)
        for index in [0, 2] {
            let isSame = watchers[index].frames == untouched[index].frames
            #expect(isSame, "watcher \(index)")
            #expect(watchers[index].decodeFailures == 0)
        }
        let fallen = watchers[1]
        let room = try snapshot(call)
        let state = try downlink(fallen, call)
        #expect(room.encoding.groups.count == 2)
        #expect(room.encoding.groups.first { $0.id == state.group }?.members == [fallen.participantID])
        #expect(state.groupBitRate < 400_000, "\(state.groupBitRate)")
        #expect(fallen.decodeFailures == 0)
        let after = fallen.arrivals.filter { $0 > start + .seconds(10) }
        let gaps = zip(after, after.dropFirst()).map { $1 - $0 }
        #expect((gaps.max() ?? .seconds(9)) < .milliseconds(1500), "\(gaps.max() ?? .zero)")
        let queued = fallen.queueing.filter { $0.time > start + .seconds(10) }.map(\.delay).max() ?? .zero
        #expect(queued < .milliseconds(1500), "\(queued)")
        call.run(for: .seconds(4))
        let late = fallen.queueing.filter { $0.time > start + .seconds(13) }.map(\.delay).max() ?? .zero
        #expect(late < .milliseconds(300), "\(late)")
    }

    @Test("a stream with frames of the upper layer left out decodes without a fault")
    func layerDrops() throws {
        let call = makeCall(encoders: 1)
        let watchers = try join(call, watchers: 3) { index in
            LinkProfile(
                rate: .fixed(index == 0 ? .kilobits(350) : .kilobits(500)), delay: .milliseconds(20),
                queue: .duration(.seconds(1)))
        }
        call.run(for: .seconds(15))
        let state = try downlink(watchers[0], call)
        #expect(state.framesLayerDropped > 10, "\(state.framesLayerDropped) left out; \(state.explanation ?? "")")
        for watcher in watchers {
            #expect(watcher.decodeFailures == 0)
            // A good part of the lower layer, and on a fast link nearly all of the stream.
            let least = watcher === watchers[0] ? 40 : 180
            #expect(watcher.arrivals.count > least, "\(watcher.arrivals.count) of \(watcher.name)")
        }
    }

    @Test("a receiver that keeps asking for keyframes is given its own encoder; the others get at most three of them")
    func requestsWithoutEnd() throws {
        let call = makeCall(encoders: 2)
        let watchers = try join(call, watchers: 4)
        call.run(for: .seconds(4))
        let before = watchers.map(\.keyframesReceived)
        for _ in 0..<40 {
            watchers[2].peer.requestKeyframe(now: call.now)
            call.run(for: .milliseconds(350))
        }
        for index in [0, 1, 3] {
            #expect(watchers[index].keyframesReceived - before[index] <= 3)
        }
        let room = try snapshot(call)
        #expect(room.encoding.groups.contains { $0.members == [watchers[2].participantID] })
        #expect(try downlink(watchers[2], call).explanation?.contains("requests too many keyframes") ?? false)
    }

    @Test("without a spare encoder, a receiver that keeps asking for keyframes waits")
    func requestsWithoutEndOrBudget() throws {
        let call = makeCall(encoders: 1)
        let watchers = try join(call, watchers: 3)
        call.run(for: .seconds(4))
        let before = watchers[0].keyframesReceived
        for _ in 0..<40 {
            watchers[2].peer.requestKeyframe(now: call.now)
            call.run(for: .milliseconds(350))
        }
        // Two at once, and one in ten seconds.
        #expect(watchers[0].keyframesReceived - before <= 4, "\(watchers[0].keyframesReceived - before)")
    }

    @Test("views are personal while there are encoders for them, and then everyone sees everyone")
    func selfViewByBudget() throws {
        let call = VirtualCall {
            $0.maximumEncoders = 3
            $0.selfView = .auto
        }
        for (name, colour) in [("Ada", Colour.red), ("Ben", .green), ("Cy", .blue)] {
            try call.join(name, colour: colour)
        }
        call.run(for: .seconds(2))
        #expect(try snapshot(call).encoding.groups.count == 3)
        #expect(try snapshot(call).participants.allSatisfy { !$0.downlink.sharedView })
        let eve = try call.join("Eve", colour: .yellow)
        call.run(for: .seconds(4))
        #expect(try snapshot(call).encoding.groups.count < 4)
        #expect(try snapshot(call).participants.allSatisfy(\.downlink.sharedView))
        let picture = try #require(eve.picture)
        #expect(picture.colour(x: 240, y: 135).resembles(.yellow))
    }
}
