import MediaCore
import Testing

@Suite struct MediaTimeTests {
    @Test func `times in different timescales compare exactly`() {
        #expect(MediaTime(value: 1, timescale: 3) == MediaTime(value: 30000, timescale: 90000))
        #expect(MediaTime(value: 1, timescale: 3) < MediaTime(value: 30001, timescale: 90000))
        // Doubles cannot tell these apart.
        let large = MediaTime(value: .max, timescale: 90000)
        #expect(MediaTime(value: .max - 1, timescale: 90000) < large)
    }

    @Test func `equal times hash alike`() {
        let times: Set = [
            MediaTime(value: 2, timescale: 4), MediaTime(value: 1, timescale: 2),
            MediaTime(value: 45000, timescale: 90000),
        ]
        #expect(times.count == 1)
        #expect(Set([MediaTime(value: 0, timescale: 7), .zero]).count == 1)
        #expect(Set([MediaTime(value: .min, timescale: 2), MediaTime(value: .min, timescale: 1)]).count == 2)
    }

    @Test func `sums across timescales are exact`() {
        let sum = MediaTime(value: 1, timescale: 3) + MediaTime(value: 1, timescale: 4)
        #expect(sum == MediaTime(value: 7, timescale: 12))
        #expect(sum.timescale == 12)
        let difference = MediaTime(value: 1, timescale: 90000) - MediaTime(value: 1, timescale: 48000)
        #expect(difference == MediaTime(value: -7, timescale: 720_000))
    }

    @Test func `a sum whose common timescale is too large is rounded down once`() {
        // Two coprime timescales near 2³¹: their product does not fit 32 bits.
        let left = MediaTime(value: 1, timescale: 2_147_483_647)
        let right = MediaTime(value: 2_147_483_645, timescale: 2_147_483_646)
        let sum = left + right
        #expect(sum.timescale == 2_147_483_647)
        // 1/p + (q-1)/q with q = p - 1, in units of 1/p: 1 + (p-2)·p/(p-1) = p - 1/(p-1), rounded down.
        #expect(sum.value == 2_147_483_646)
        let negative = MediaTime.zero - left - right
        #expect(negative.value == -2_147_483_647)
    }

    @Test func `arithmetic saturates`() {
        let most = MediaTime(value: .max, timescale: 1)
        #expect((most + most).value == .max)
        #expect((MediaTime(value: .min, timescale: 1) - most).value == .min)
        #expect((most + MediaTime(value: 1, timescale: .max)).value == .max)
        #expect(most.converted(toTimescale: 90000).value == .max)
    }

    @Test func `conversion rounds down, below zero too`() {
        #expect(MediaTime(value: 1, timescale: 3).converted(toTimescale: 10).value == 3)
        #expect(MediaTime(value: -1, timescale: 3).converted(toTimescale: 10).value == -4)
        #expect(MediaTime(value: -3, timescale: 3).converted(toTimescale: 10).value == -10)
    }

    @Test func `durations convert to ticks and back`() {
        #expect(MediaTime(.milliseconds(20), timescale: 48000).value == 960)
        #expect(MediaTime(value: 3000, timescale: 90000).duration == .nanoseconds(33_333_333))
        #expect(MediaTime(.milliseconds(-1), timescale: 90000).value == -90)
    }

    @Test func `seconds are a double`() {
        #expect(MediaTime(value: 45000, timescale: 90000).seconds == 0.5)
    }
}
