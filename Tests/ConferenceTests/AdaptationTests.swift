import Conference
import CongestionControl
import LinkEmulation
import MediaCore
import MediaFixtures
import PeerConnection
import SDP
import SecureTransport
import Testing

/// A relay with its real encoders and controllers, and a link that changes, on virtual time.
@Suite struct AdaptationTests {
    @Test("the picture follows a link that falls and rises, without a keyframe and without touching anyone else's")
    func linkFallsAndRises() throws {
        let call = VirtualCall {
            $0.canvas = VideoDimensions(width: 320, height: 180)
            $0.frameRate = 15
            $0.rateLimits = RateLimits(minimum: .kilobits(100), start: .kilobits(1000), maximum: .kilobits(3000))
        }
        let fast = RateLimits(minimum: .kilobits(3000), start: .kilobits(3000), maximum: .kilobits(4000))
        let camera = try call.join(
            "Camera", colour: .red, video: .sendOnly, audio: nil, dimensions: VideoDimensions(width: 320, height: 180),
            rateLimits: fast)
        camera.pictures = Texture.pictures
        let steps = [
            LinkRate.Step(at: .zero, rate: .kilobits(2500)), LinkRate.Step(at: .seconds(20), rate: .kilobits(500)),
            LinkRate.Step(at: .seconds(40), rate: .kilobits(2000)),
        ]
        let watcher = try call.join(
            "Cy", video: .receiveOnly, audio: nil,
            downlink: LinkProfile(rate: .steps(steps), delay: .milliseconds(40), queue: .size(DataSize(bytes: 200_000)))
        )
        let other = try call.join("Ada", video: .receiveOnly, audio: nil)
        let start = call.now

        func target(_ name: String) -> Double {
            let room = call.relay.snapshot(room: "demo", now: call.now)
            return Double(room?.participants.first { $0.name == name }?.downlink.targetBitRate ?? 0)
        }

        func sent(_ name: String) -> Double {
            let room = call.relay.snapshot(room: "demo", now: call.now)
            return Double(room?.participants.first { $0.name == name }?.downlink.bitRate ?? 0)
        }

        call.run(for: .seconds(20))
        let keyframes = watcher.keyframesReceived
        let before = target("Cy")
        #expect(before > 1_500_000, "\(before) before the drop")

        call.run(for: .seconds(4))
        #expect(sent("Cy") < 500_000, "\(sent("Cy")) in the fourth second after the drop")
        call.run(for: .seconds(16))
        let late = watcher.queueing.filter { $0.time > start + .seconds(26) && $0.time < start + .seconds(40) }
        let sorted = late.map(\.delay).sorted()
        let percentile = sorted[sorted.count * 95 / 100]
        #expect(percentile < Duration.milliseconds(100), "95 % within \(percentile)")

        call.run(for: .seconds(20))
        #expect(target("Cy") > 1_600_000, "\(target("Cy")) twenty seconds after the rise")
        #expect(watcher.keyframesReceived == keyframes, "the steps caused keyframes")

        let gaps = zip(watcher.arrivals, watcher.arrivals.dropFirst()).map { $1 - $0 }
        let longest = gaps.max() ?? .zero
        #expect(longest < Duration.milliseconds(1500), "froze for \(longest)")
        #expect(other.arrivals.count >= 890, "the other watcher got \(other.arrivals.count) frames")
        #expect(other.keyframesReceived == 1)
    }

    @Test("a bound in a further offer holds, and goes with the next offer that has none")
    func boundByFurtherOffer() throws {
        let call = VirtualCall {
            $0.rateLimits = RateLimits(minimum: .kilobits(100), start: .kilobits(1000), maximum: .kilobits(3000))
        }
        let camera = try call.join(
            "Camera", colour: .red, video: .sendOnly, audio: nil, dimensions: VideoDimensions(width: 320, height: 180))
        camera.pictures = Texture.pictures
        let watcher = try call.join("Cy", video: .receiveOnly, audio: nil)
        func target() -> Double {
            let room = call.relay.snapshot(room: "demo", now: call.now)
            return Double(room?.participants.first { $0.name == "Cy" }?.downlink.targetBitRate ?? 0)
        }
        call.run(for: .seconds(3))
        #expect(target() > 400_000)
        try call.renegotiate(watcher) { $0.video?.maximumBitRate = .kilobits(300) }
        call.run(for: .seconds(1))
        #expect(target() <= 300_000)
        try call.renegotiate(watcher) { $0.video?.maximumBitRate = nil }
        call.run(for: .seconds(10))
        #expect(target() > 300_000)
    }

    @Test("the picture goes on, at the rate that it had, when a further offer takes feedback on packets away")
    func feedbackEnds() throws {
        let call = VirtualCall {
            $0.rateLimits = RateLimits(minimum: .kilobits(100), start: .kilobits(1000), maximum: .kilobits(3000))
        }
        let camera = try call.join(
            "Camera", colour: .red, video: .sendOnly, audio: .sendOnly,
            dimensions: VideoDimensions(width: 320, height: 180))
        camera.pictures = Texture.pictures
        let watcher = try call.join("Cy", video: .receiveOnly, audio: .receiveOnly)
        func target() -> Double {
            let room = call.relay.snapshot(room: "demo", now: call.now)
            return Double(room?.participants.first { $0.name == "Cy" }?.downlink.targetBitRate ?? 0)
        }
        call.run(for: .seconds(10))
        let before = target()
        #expect(before > 500_000)
        try call.renegotiate(watcher) { $0.headerExtensions.remove(.transportSequenceNumber) }
        #expect(!watcher.peer.session.hasFeedbackOnPackets)
        let end = call.now
        call.run(for: .seconds(20))
        #expect(target() >= before * 0.9, "\(target()) after \(before)")
        let frames = watcher.arrivals.count { $0 > end }
        #expect(frames > 270, "\(frames) frames of 300")

        try call.renegotiate(watcher) { $0.headerExtensions.insert(.transportSequenceNumber) }
        call.run(for: .seconds(10))
        #expect(target() > 300_000, "\(target()) with feedback again")
        let later = watcher.arrivals.count { $0 > end + .seconds(20) }
        #expect(later > 120, "\(later) frames of 150")
    }

    @Test("a link that loses 5 % of its packets keeps its picture going by retransmission")
    func lossyLink() throws {
        let call = VirtualCall()
        try call.join("Ben", colour: .green, video: .sendOnly, audio: nil)
        let watcher = try call.join(
            "Cy", video: .receiveOnly, audio: nil,
            downlink: LinkProfile(rate: .unlimited, delay: .milliseconds(20), loss: 0.05))
        call.run(for: .seconds(20))
        #expect(watcher.arrivals.count > 285, "\(watcher.arrivals.count) frames of 300")
        let snapshot = try #require(call.relay.snapshot(room: "demo", now: call.now)?.participants.last)
        #expect(snapshot.downlink.retransmissions > 5)
        #expect(snapshot.downlink.keyframes < 4, "\(snapshot.downlink.keyframes) keyframes")
    }
}
