import Compositing
import CongestionControl
import LinkEmulation
import MediaCore
import MediaFixtures
import SDP
import SecureTransport
import Testing

@testable import Conference

/// Rungs in a room, with real encoders and controllers on virtual time.
@Suite struct RoomLadderTests {
    private static let canvas = VideoDimensions(width: 640, height: 360)

    private func makeCall(hasLadder: Bool = true, slowest: BitRate = .kilobits(250)) throws -> (
        call: VirtualCall, watcher: TestClient
    ) {
        let call = VirtualCall {
            $0.canvas = Self.canvas
            $0.frameRate = 30
            $0.hasLadder = hasLadder
            $0.rateLimits = RateLimits(minimum: .kilobits(100), start: .kilobits(250), maximum: .megabits(3))
        }
        let camera = try call.join(
            "Camera", colour: .red, video: .sendOnly, audio: nil, dimensions: VideoDimensions(width: 320, height: 180),
            rateLimits: RateLimits(minimum: .megabits(3), start: .megabits(3), maximum: .megabits(4)))
        camera.pictures = Texture.coarsePictures
        // The camera's tile is there before anybody watches, so that only a change of size could move it.
        call.run(for: .milliseconds(500))
        let rates = [LinkRate.Step(at: .zero, rate: slowest), LinkRate.Step(at: .seconds(6), rate: .megabits(4))]
        let watcher = try call.join(
            "Cy", video: .receiveOnly, audio: nil,
            downlink: LinkProfile(rate: .steps(rates), delay: .milliseconds(20), queue: .duration(.seconds(1))))
        return (call, watcher)
    }

    private func downlink(_ client: TestClient, _ call: VirtualCall) throws -> DownlinkSnapshot {
        let room = try #require(call.relay.snapshot(room: "demo", now: call.now))
        return try #require(room.participants.first { $0.id == client.participantID }?.downlink)
    }

    @Test(
        "costly pictures are composed and sent smaller at a low rate, without an animation, and in full size later"
    )
    func followsTheRate() throws {
        let (call, watcher) = try makeCall()
        var sizes: Set<VideoDimensions> = []
        call.onComposed = { tick in for picture in tick.pictures { sizes.insert(picture.dimensions) } }
        var hasMoved = false
        for _ in 0..<50 {
            call.run(for: .milliseconds(100))
            let plan = call.relay.rooms["demo"]?.composition.plan
            hasMoved = hasMoved || (plan?.requests.contains { $0.instruction.containsTweening } ?? false)
        }
        let low = try downlink(watcher, call)
        let encoding = try #require(call.relay.snapshot(room: "demo", now: call.now)).encoding
        #expect(low.width < 640, "\(low.width)x\(low.height) at \(low.videoBitRate); \(encoding)")
        #expect(watcher.picture?.dimensions == VideoDimensions(width: low.width, height: low.height))
        #expect(low.explanation?.contains("and not 640x360@30") ?? false, "\(low.explanation ?? "")")
        #expect(sizes.contains(VideoDimensions(width: low.width, height: low.height)))
        #expect(!hasMoved)
        let keyframes = watcher.keyframesReceived
        call.run(for: .seconds(9))
        let high = try downlink(watcher, call)
        #expect(high.width == 640, "\(high.width)x\(high.height) at \(high.videoBitRate)")
        #expect(watcher.picture?.dimensions == Self.canvas)
        #expect(watcher.keyframesReceived - keyframes <= 3, "\(watcher.keyframesReceived - keyframes)")
        #expect(watcher.decodeFailures == 0)
        // 14 s at 30 or 15 pictures a second.
        #expect(watcher.arrivals.count > 280, "\(watcher.arrivals.count)")
    }

    @Test("without the ladder all receivers are sent the whole canvas")
    func off() throws {
        let (call, watcher) = try makeCall(hasLadder: false)
        call.run(for: .seconds(4))
        #expect(try downlink(watcher, call).width == 640)
        #expect(watcher.picture?.dimensions == Self.canvas)
    }
}
