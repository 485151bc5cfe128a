import MediaCore
import Testing

@Suite struct MonotonicInstantTests {
    @Test func `instants and durations add and subtract`() {
        var instant = MonotonicInstant.zero + .milliseconds(1500)
        #expect(instant.nanoseconds == 1_500_000_000)
        #expect(instant.milliseconds == 1500)
        instant += .microseconds(1)
        #expect(instant - MonotonicInstant(nanoseconds: 1_000_000_000) == .nanoseconds(500_001_000))
        #expect(instant - .seconds(2) == MonotonicInstant(nanoseconds: -499_999_000))
    }

    @Test func `never stays never`() {
        #expect(MonotonicInstant.distantFuture + .seconds(1) == .distantFuture)
        #expect(MonotonicInstant.zero + .seconds(Int64.max) == .distantFuture)
        #expect(MonotonicInstant.zero < .distantFuture)
    }

    @Test func `arithmetic saturates at the ends`() {
        let past = MonotonicInstant(nanoseconds: .min)
        #expect(past - .seconds(1) == past)
        #expect(MonotonicInstant.distantFuture - past == .nanoseconds(Int64.max))
        #expect(past - MonotonicInstant.distantFuture == .nanoseconds(Int64.min))
    }

    @Test func `instants order by time`() {
        #expect(MonotonicInstant(nanoseconds: -1) < .zero)
        #expect([MonotonicInstant(nanoseconds: 3), .zero].min() == .zero)
    }
}

@Suite struct DurationUnitsTests {
    @Test func `durations are told in nanoseconds, milliseconds and seconds`() {
        #expect(Duration.microseconds(1500).nanoseconds == 1_500_000)
        #expect(Duration.microseconds(1500).milliseconds == 1.5)
        #expect(Duration.milliseconds(-250).seconds == -0.25)
        #expect(
            Duration(secondsComponent: -1, attosecondsComponent: -500_000_000_000_000_000).nanoseconds == -1_500_000_000
        )
    }

    @Test func `nanoseconds saturate`() {
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
        #expect(Duration.seconds(Int64.min).nanoseconds == .min)
        #expect(Duration.nanoseconds(Int64.max).nanoseconds == .max)
        #expect(Duration.nanoseconds(Int64.min).nanoseconds == .min)
        #expect((Duration.nanoseconds(Int64.max) + .nanoseconds(1)).nanoseconds == .max)
    }
}
