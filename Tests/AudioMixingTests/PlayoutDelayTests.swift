import MediaCore
import Testing

@testable import AudioMixing

@Suite("Audio source: playout delay")
struct PlayoutDelayTests {
    @Test("the delay grows with jitter, and shrinks when the jitter is gone")
    func jitter() throws {
        var link = try TestLink(sender: TestSender())
        var generator = SeededGenerator(seed: 1)
        let delays = (0..<2000).map { index -> Double in
            (250..<1000).contains(index) ? 10 + .random(in: 0...90, using: &generator) : 10
        }
        link.delay = { delays[$0 % 2000] }
        try link.run(4000)
        #expect(link.source.statistics.playoutDelay <= .milliseconds(60))
        try link.run(8000)
        #expect(link.source.statistics.playoutDelay >= .milliseconds(80))
        #expect(link.source.statistics.targetDelay >= .milliseconds(90))
        // Once it has grown, nothing is missing any more.
        let concealed = link.source.statistics.concealed
        try link.run(7500)
        #expect(link.source.statistics.concealed - concealed <= .milliseconds(100))
        try link.run(16_000)
        #expect(link.source.statistics.playoutDelay <= .milliseconds(60))
        #expect(link.source.statistics.removed > .milliseconds(40))
    }

    @Test("the delay grows at once when packets come too late")
    func growsAtOnce() throws {
        var link = try TestLink(sender: TestSender())
        link.delay = { $0 < 100 ? 10 : 80 }
        try link.run(2000)
        let before = link.source.statistics
        #expect(before.playoutDelay <= .milliseconds(60))
        try link.run(300)
        let concealed = link.source.statistics.concealed - before.concealed
        #expect(concealed > .milliseconds(20) && concealed <= .milliseconds(100))
        try link.run(2000)
        #expect(link.source.statistics.concealed - before.concealed == concealed)
        #expect(link.source.statistics.late == 0)
    }

    @Test("the target stays within its bounds whatever the jitter")
    func bounds() {
        var estimator = PlayoutDelayEstimator(range: 960...9600)
        var generator = SeededGenerator(seed: 2)
        for index in 0..<5000 {
            let transit = Int64.random(in: -1_000_000_000...1_000_000_000, using: &generator)
            estimator.record(transit: transit, timestamp: Int64(index) * 960)
            #expect((960...9600).contains(estimator.target))
        }
    }

    @Test("the target is the jitter that 97 packets of a hundred do not exceed, and a frame")
    func percentile() {
        var estimator = PlayoutDelayEstimator(range: 960...9600)
        for index in 0..<300 {
            let jitter: Int64 = index % 50 == 0 ? 9000 : index % 10 == 0 ? 2400 : 0
            estimator.record(transit: 77_000 + jitter, timestamp: Int64(index) * 960)
        }
        #expect((960 + 2400...960 + 2400 + 120).contains(estimator.target))
        #expect(estimator.base == 77_000)
    }

    @Test("a sender's clock that is fast or slow is followed for minutes", arguments: [200.0, -200, 1000, -1000])
    func drift(skew: Double) throws {
        var sender = try TestSender(settings: AudioEncoderSettings(complexity: 0))
        sender.clockSkew = skew
        var link = try TestLink(sender: sender)
        try link.run(2000)
        for _ in 0..<(abs(skew) < 500 ? 12 : 6) {
            try link.run(10_000)
            let statistics = link.source.statistics
            #expect(statistics.playoutDelay >= .milliseconds(5) && statistics.playoutDelay <= .milliseconds(90))
        }
        let statistics = link.source.statistics
        #expect(statistics.late + statistics.discarded + statistics.restarts == 0)
        #expect(statistics.concealed <= .milliseconds(60))
        if skew == 1000 { #expect(statistics.removed >= .milliseconds(25)) }
        if skew == -1000 { #expect(statistics.inserted >= .milliseconds(25)) }
    }

    @Test("after minutes without a packet, in which the clocks drifted apart, the delay is as short as before")
    func pause() throws {
        var sender = try TestSender()
        sender.clockSkew = -1000
        var link = try TestLink(sender: sender)
        link.delay = { (100..<18_100).contains($0) ? nil : 10 }
        for _ in 0..<363 { try link.run(1000) }
        let before = link.source.statistics
        #expect(before.packetsReceived > 110)
        try link.run(1000)
        let statistics = link.source.statistics
        #expect(statistics.targetDelay <= .milliseconds(60))
        #expect(statistics.playoutDelay <= .milliseconds(60))
        #expect(statistics.removed - before.removed <= .milliseconds(20))
        #expect(statistics.concealed - before.concealed <= .milliseconds(20))
    }

    @Test("after a pause the jitter is as unknown as at the beginning: a packet that comes late is not missed")
    func jitterAfterPause() throws {
        var link = try TestLink(sender: TestSender())
        link.delay = { index in
            guard !(100..<700).contains(index) else { return nil }
            return index % 10 == 5 ? 28 : 10
        }
        try link.run(13_000)
        let before = link.source.statistics
        try link.run(2000)
        let statistics = link.source.statistics
        #expect(statistics.packetsReceived > 140)
        #expect(statistics.underruns == before.underruns)
    }

    @Test("after an outage whose packets come all at once, the delay is short again soon")
    func burst() throws {
        var link = try TestLink(sender: TestSender())
        // Packets 100 to 149 are held back until packet 150 comes.
        link.delay = { (100..<150).contains($0) ? Double(150 - $0) * 20 + 10 : 10 }
        try link.run(2000)
        try link.run(1500)
        #expect(link.source.statistics.playoutDelay <= .milliseconds(700))
        try link.run(14_000)
        #expect(link.source.statistics.playoutDelay <= .milliseconds(80))
    }

    @Test("a way that becomes longer by more than any wait is known within a second", arguments: [300.0, 600, 900])
    func longerWay(milliseconds: Double) throws {
        var generator = SeededGenerator(seed: 1)
        let jitter = (0..<400).map { _ in Double.random(in: 10..<40, using: &generator) }
        var link = try TestLink(sender: TestSender())
        link.delay = { jitter[$0] + ($0 < 200 ? 0 : milliseconds) }
        try link.run(5000 + Int(milliseconds))
        let before = link.source.statistics
        try link.run(2000)
        let statistics = link.source.statistics
        #expect(statistics.playoutDelay <= .milliseconds(80))
        #expect(statistics.concealed == before.concealed)
        #expect(statistics.late == before.late)
    }
}
