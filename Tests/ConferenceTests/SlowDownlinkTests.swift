import Conference
import CongestionControl
import LinkEmulation
import MediaCore
import MediaFixtures
import SDP
import SecureTransport
import Testing

/// Receivers whose links carry less than the minimum rate, with real encoders and controllers on virtual time.
@Suite struct SlowDownlinkTests {
    @Test(
        "on a link below the minimum rate audio flows, the queue stays short, and video comes once the link carries it",
        arguments: [60, 70, 80, 100] as [Double])
    func slowLink(kilobits: Double) throws {
        let call = VirtualCall {
            $0.canvas = VideoDimensions(width: 320, height: 180)
            $0.frameRate = 15
            $0.rateLimits = RateLimits(minimum: .kilobits(150), start: .megabits(1), maximum: .kilobits(3000))
        }
        let camera = try call.join(
            "Camera", colour: .red, video: .sendOnly, dimensions: VideoDimensions(width: 320, height: 180))
        camera.pictures = Texture.pictures
        let steps = [
            LinkRate.Step(at: .zero, rate: .kilobits(kilobits)),
            LinkRate.Step(at: .seconds(40), rate: .kilobits(600)),
        ]
        call.run(for: .seconds(2))
        let watcher = try call.join(
            "Cy", video: .receiveOnly, overDTLS: true,
            downlink: LinkProfile(rate: .steps(steps), delay: .milliseconds(20), queue: .packets(1000)))
        let start = call.now

        call.run(for: .seconds(40))
        let late = watcher.queueing.filter { $0.time > start + .seconds(10) && $0.time < start + .seconds(40) }
        let sorted = late.map(\.delay).sorted()
        #expect(sorted.count > 1000, "\(sorted.count) packets: audio alone are 1500")
        let percentile = sorted.isEmpty ? .seconds(9) : sorted[sorted.count * 95 / 100]
        #expect(percentile < .milliseconds(400), "95 % within \(percentile)")
        // Before the first feedback nothing says what the link carries.
        let longest = watcher.queueing.map(\.delay).max()
        #expect(longest.map { $0 < .seconds(1) } ?? false, "at most \(longest ?? .zero)")

        let before = watcher.arrivals.count
        call.run(for: .seconds(15))
        #expect(watcher.arrivals.count > before + 100, "\(watcher.arrivals.count - before) frames in 15 s")
    }

    @Test(
        "what is sent before the path is known waits for less than 0.8 s on a link that carries little but audio",
        arguments: [60, 100], [320, 1280])
    func start(kilobits: Double, width: Int) throws {
        let dimensions = VideoDimensions(width: width, height: width * 9 / 16)
        let call = VirtualCall {
            $0.canvas = dimensions
            $0.frameRate = 30
            $0.rateLimits = RateLimits(minimum: .kilobits(150), start: .megabits(1), maximum: .kilobits(3000))
        }
        let camera = try call.join(
            "Camera", colour: .red, video: .sendOnly, dimensions: VideoDimensions(width: 320, height: 180))
        camera.pictures = Texture.pictures
        call.run(for: .seconds(2))
        let watcher = try call.join(
            "Cy", video: .receiveOnly, overDTLS: true,
            downlink: LinkProfile(rate: .fixed(.kilobits(kilobits)), delay: .milliseconds(20), queue: .packets(1000)))
        call.run(for: .seconds(4))
        let longest = watcher.queueing.map(\.delay).max() ?? .seconds(9)
        #expect(watcher.queueing.count > 200 && longest < .milliseconds(800), "\(longest)")
    }
}
