import MediaCore
import Testing

@testable import EncoderSharing

/// The times of keyframes.
@Suite struct KeyframeScheduleTests {
    private static let rate = BitRate.megabits(1)

    /// An encoder that is asked for keyframes at every tick, which take so long of its rate.
    private func keyframes(_ policy: KeyframeSchedule.Policy, taking time: Duration, for duration: Duration) -> Int {
        var schedule = KeyframeSchedule()
        var now = MonotonicInstant(nanoseconds: 1_000_000_000)
        let end = now + duration
        var count = 0
        while now < end {
            schedule.request()
            if schedule.isDue(policy, now: now) {
                schedule.begin(policy, now: now)
                schedule.end(size: Self.rate.dataSize(over: time), rate: Self.rate, now: now)
                count += 1
            }
            now += .milliseconds(33)
        }
        return count
    }

    @Test(
        "endless requests take a twentieth of a shared encoder's bits plus six seconds' savings, half a second apart"
    )
    func share() {
        let policy = KeyframeSchedule.Policy.shared(share: 0.05)
        #expect((32...34).contains(keyframes(policy, taking: .milliseconds(100), for: .seconds(60))))
        #expect((110...121).contains(keyframes(policy, taking: .milliseconds(10), for: .seconds(60))))
    }

    @Test("a keyframe that took very long does not keep the next away for more than five seconds")
    func longest() {
        let policy = KeyframeSchedule.Policy.shared(share: 0.05)
        #expect((12...13).contains(keyframes(policy, taking: .seconds(1), for: .seconds(60))))
    }

    @Test("a rate that falls makes no keyframe dearer that was made before")
    func fallenRate() {
        var schedule = KeyframeSchedule()
        let now = MonotonicInstant(nanoseconds: 1_000_000_000)
        schedule.end(size: Self.rate.dataSize(over: .milliseconds(60)), rate: Self.rate, now: now)
        schedule.request()
        #expect(schedule.isDue(.shared(share: 0.05), now: now + .milliseconds(500)))
    }
}
