import Compositing
import MediaCore
import NetworkSimulation
import RateControl
import SecureTransport
import Testing

@testable import Conference

/// Receivers who are sent a source's own packets, with the real controllers on virtual time.
@Suite struct PassThroughTests {
    private func makeCall(configure: (inout RelayConfiguration) -> Void = { _ in }) -> VirtualCall {
        VirtualCall {
            $0.passThrough = .auto
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
            name, colour: colour, dimensions: VideoDimensions(width: 320, height: 180), downlink: downlink,
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

    private func isPassed(_ client: TestClient, _ call: VirtualCall) throws -> Bool {
        try participant(client, call).passThrough.isPassing
    }

    /// The longest time between two frames that came from an instant on.
    private func longestGap(_ client: TestClient, from start: MonotonicInstant) -> Duration {
        let arrivals = client.arrivals.filter { $0 >= start }
        return zip(arrivals, arrivals.dropFirst()).map { $1 - $0 }.max() ?? .seconds(99)
    }

    @Test("two in a call get each other's own frames, byte by byte, and nothing is encoded or composed")
    func twoInACall() throws {
        let call = makeCall()
        let (ada, ben) = (try join(call, "Ada", colour: .red), try join(call, "Ben", colour: .blue))
        call.run(for: .seconds(6))
        let link = try participant(ben, call).passThrough
        #expect(link.isPassing, "\(link.phase) \(String(describing: link.obstacle))")
        let before = try room(call).encoding.counters.frames
        let composed = try room(call).composedPictures
        let count = ben.frames.count
        call.run(for: .seconds(4))
        #expect(try room(call).encoding.counters.frames == before)
        #expect(try room(call).composedPictures == composed)
        #expect(try room(call).encoding.groups.isEmpty)
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
        let forwarding = try participant(ben, call).peer.forwarding
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
        let fall = zip(ben.arrivals, ben.arrivals.dropFirst()).filter { $0.0 > start + .milliseconds(7900) }
        print(fall.map { "\(($0 - start).milliseconds) \(($1 - $0).milliseconds)" }.prefix(30).joined(separator: "\n"))
        call.run(for: .seconds(24))
        print(
            try participant(ben, call).passThrough.phase, try participant(ben, call).passThrough.obstacle as Any,
            try participant(ben, call).downlink?.bitRate as Any)
        #expect(try isPassed(ben, call))
        #expect(
            longestGap(ben, from: start + .seconds(3)) <= .milliseconds(200),
            "\(longestGap(ben, from: start + .seconds(3)))")
        #expect(ben.decodeFailures == 0)
        let isInOrder = zip(ben.times, ben.times.dropFirst()).allSatisfy { $0 < $1 }
        #expect(isInOrder)
    }
}
