import Compositing
import MediaCore
import MediaFixtures
import Testing

@testable import Conference
@testable import PeerConnection

@Suite("Latency ledger")
struct LatencyLedgerTests {
    private static func time(_ milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
    }

    private static func frame(_ source: SourceID, number: UInt64 = 1, received: Int64 = 0) -> SourceFrameTimes {
        SourceFrameTimes(
            source: source, number: number, received: time(received), assembled: time(received + 3),
            decodeStarted: time(received + 4), decoded: time(received + 6))
    }

    private static func tick(_ frames: [SourceFrameTimes], showing sources: [Set<SourceID>]) -> ComposedTick {
        var tick = ComposedTick(
            captureTime: time(40), composed: [], plan: ViewPlan(), frames: frames, sourceCount: 0, handedOut: time(40))
        tick.sources = sources
        return tick
    }

    @Test("the stages of all frames that a picture shows add up to the total")
    func addsUp() throws {
        let shown = ShownFrames(
            frames: [Self.frame(.camera(1)), Self.frame(.camera(2), received: 20)], tick: Self.time(40),
            composed: Self.time(45))
        let picture = PictureLedger(shown, encodeStarted: Self.time(47), encoded: Self.time(52))
        var ledger = LatencyLedger()
        ledger.observe(picture, now: Self.time(60))
        let means = LatencyStage.allCases.map { ledger[$0].mean ?? .zero }
        #expect(means.map(\.milliseconds) == [3, 1, 2, 24, 5, 2, 5, 8])
        #expect(ledger.total.count == 2)
        #expect(ledger.total.mean == means.reduce(.zero, +))
    }

    @Test("a frame is counted with the first picture that shows it, from the second frame of its source on")
    func firstPictureCounts() {
        var filter = ShownFrameFilter()
        let both: [Set<SourceID>] = [[.camera(1), .camera(2)]]
        func numbers(_ ada: UInt64, _ ben: UInt64, in views: [Set<SourceID>] = both) -> [UInt64] {
            let frames = [Self.frame(.camera(1), number: ada), Self.frame(.camera(2), number: ben)]
            return filter.take(Self.tick(frames, showing: views), picture: 0).frames.map(\.number)
        }
        #expect(numbers(7, 70) == [])
        #expect(numbers(8, 70) == [8])
        #expect(numbers(8, 70) == [])
        #expect(numbers(9, 71, in: [[.camera(2)]]) == [71])
        #expect(numbers(10, 72, in: []) == [])
    }

    @Test("quantiles are interpolated within their bucket")
    func quantiles() {
        var histogram = LatencyHistogram()
        #expect(histogram.quantile(0.5) == nil && histogram.mean == nil)
        histogram.observe(.milliseconds(3), count: 90)
        histogram.observe(.milliseconds(40), count: 10)
        #expect(histogram.quantile(0.45)?.milliseconds == 3)
        #expect(histogram.quantile(0.95)?.milliseconds == 39)
        histogram.observe(.seconds(5), count: 900)
        #expect(histogram.quantile(1)?.milliseconds == 1000)
        histogram.observe(.zero - .seconds(1))
        #expect(histogram.count == 1001)
    }

    @Test("in a call the waiting times of each receiver's frames are known, and add up")
    func call() throws {
        let call = VirtualCall { $0.forwarding = .off }
        let ada = try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green)
        call.run(for: .seconds(3))
        let room = try #require(call.relay.snapshot(room: "demo", now: call.now))
        let participant = try #require(room.participants.first { $0.id == ada.participantID })
        let total = try #require(participant.latency.first { $0.stage == "total" })
        #expect(total.histogram.count > 20)
        let mean = try #require(total.histogram.mean)
        let sum = participant.latency.prefix { $0.stage != "total" }.reduce(Duration.zero) {
            $0 + ($1.histogram.mean ?? .zero)
        }
        #expect(abs((mean - sum).milliseconds) < 0.001)
        // Jobs take no time here: the rest is the wait for the tick (15 a second) and the pacer.
        #expect(mean > .zero && mean < .milliseconds(67 + 40))
        #expect(participant.uplinkLatency.map(\.stage) == ["jitter_buffer", "decode_queue", "decode"])
    }
}
