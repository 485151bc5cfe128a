import MediaCore
import Testing

@testable import ConferenceClient

extension FreezeMeter {
    /// A frame that took no time is shown.
    fileprivate mutating func frameShown(now: MonotonicInstant) { frameShown(now: now, made: MediaTime(now)) }
}

@Suite("Freeze meter")
struct FreezeMeterTests {
    /// A meter that saw `count` frames, `interval` apart, the last one at the returned instant.
    private func steady(_ count: Int, every interval: Duration) -> (FreezeMeter, MonotonicInstant) {
        var meter = FreezeMeter()
        var now = MonotonicInstant.zero
        for index in 0..<count {
            if index > 0 { now += interval }
            meter.frameShown(now: now)
        }
        return (meter, now)
    }

    @Test("a steady cadence has no freeze")
    func steadyCadence() {
        let (meter, now) = steady(100, every: .milliseconds(33))
        #expect(meter.frameCount == 100)
        #expect(meter.totalFreezeCount(now: now) == 0)
        #expect(meter.totalFreezeDuration(now: now) == .zero)
        #expect(meter.longestGap == .milliseconds(33))
    }

    @Test("the longest recent gap is that since it was asked for, and one that lasts counts")
    func recentGap() {
        var (meter, now) = steady(31, every: .milliseconds(33))
        #expect(meter.takeRecentGap(now: now) == .milliseconds(33))
        #expect(meter.takeRecentGap(now: now + .milliseconds(400)) == .milliseconds(400))
        meter.frameShown(now: now + .milliseconds(500))
        meter.frameShown(now: now + .milliseconds(533))
        #expect(meter.takeRecentGap(now: now + .milliseconds(540)) == .milliseconds(500))
        #expect(meter.takeRecentGap(now: now + .milliseconds(540)) == .milliseconds(7))
        #expect(meter.longestGap == .milliseconds(500))
    }

    @Test("at 30 frames a second a gap of 183 ms is a freeze and one of 182 ms is not")
    func thresholdOfFastVideo() {
        var (meter, now) = steady(31, every: .milliseconds(33))
        #expect(meter.threshold == .milliseconds(183))
        meter.frameShown(now: now + .milliseconds(182))
        #expect(meter.freezeCount == 0)

        (meter, now) = steady(31, every: .milliseconds(33))
        meter.frameShown(now: now + .milliseconds(183))
        #expect(meter.freezeCount == 1)
        #expect(meter.freezeDuration == .milliseconds(183))
    }

    @Test("at 5 frames a second three mean gaps are the threshold")
    func thresholdOfSlowVideo() {
        let (meter, _) = steady(31, every: .milliseconds(200))
        #expect(meter.threshold == .milliseconds(600))
    }

    @Test("the mean is that of the last 30 gaps")
    func windowScreenShare() {
        var (meter, now) = steady(31, every: .milliseconds(20))
        for _ in 0..<30 {
            now += .milliseconds(100)
            meter.frameShown(now: now)
        }
        #expect(meter.threshold == .milliseconds(300))
        #expect(meter.freezeCount == 0)
    }

    @Test("a freeze that lasts until the end counts")
    func ongoingFreeze() {
        let (meter, now) = steady(31, every: .milliseconds(33))
        #expect(meter.totalFreezeDuration(now: now + .milliseconds(100)) == .zero)
        #expect(meter.totalFreezeDuration(now: now + .seconds(2)) == .seconds(2))
        #expect(meter.totalFreezeCount(now: now + .seconds(2)) == 1)
    }

    @Test("a freeze in which no frame is missing or late is a pause of the sender")
    func pauses() {
        var (meter, now) = steady(31, every: .milliseconds(33))
        now += .milliseconds(500)
        meter.frameShown(now: now)
        #expect(meter.freezeCount == 1)
        #expect(meter.pauseCount == 1 && meter.pauseDuration == .milliseconds(500))
        // Late, by most of the gap.
        now += .seconds(1)
        meter.frameShown(now: now, made: MediaTime(now - .milliseconds(900)))
        #expect(meter.freezeCount == 2 && meter.pauseCount == 1)
        meter.frameMissed()
        now += .seconds(1)
        meter.frameShown(now: now)
        #expect(meter.freezeCount == 3 && meter.pauseCount == 1)
    }

    @Test("nothing is a freeze before the second frame")
    func firstFrame() {
        var meter = FreezeMeter()
        #expect(meter.totalFreezeDuration(now: MonotonicInstant.zero + .seconds(5)) == .zero)
        meter.frameShown(now: .zero)
        #expect(meter.totalFreezeDuration(now: MonotonicInstant.zero + .seconds(5)) == .zero)
    }
}

@Suite("Duration histogram")
struct DurationHistogramTests {
    @Test("quantiles are right to a millisecond")
    func quantiles() {
        var histogram = DurationHistogram()
        for value in 1...100 { histogram.record(.milliseconds(value)) }
        #expect(histogram.quantile(0.5) == .milliseconds(51))
        #expect(histogram.quantile(0.95) == .milliseconds(96))
        #expect(histogram.quantile(1) == .milliseconds(100))
        #expect(histogram.mean == .microseconds(50_500))
        #expect(histogram.maximum == .milliseconds(100))
    }

    @Test("durations outside the range count at its ends")
    func outOfRange() {
        var histogram = DurationHistogram()
        #expect(histogram.quantile(0.5) == nil)
        histogram.record(.milliseconds(-5))
        histogram.record(.seconds(3600))
        #expect(histogram.count == 2)
        #expect(histogram.maximum == .seconds(3600))
    }
}
