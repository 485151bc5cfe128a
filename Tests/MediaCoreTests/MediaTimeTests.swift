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

    @Test func `a sum whose common timescale is too large is exact where lowest terms fit`() {
        let sum = MediaTime(value: 1, timescale: 90_000) + MediaTime(value: 1000, timescale: 1_000_000_000)
        #expect(sum == MediaTime(value: 109, timescale: 9_000_000))
        #expect(!sum.hasBeenRounded)
    }

    @Test func `a sum too large for its timescale gets a coarser one`() {
        let sum = MediaTime(value: .max, timescale: 90_000) + MediaTime(value: .max, timescale: 90_000)
        #expect(sum.timescale == 45_000)
        #expect(sum.value == .max)
        let odd = MediaTime(value: .max, timescale: 90_000) + MediaTime(value: .max - 1, timescale: 90_000)
        #expect(odd.hasBeenRounded)
        #expect(odd < sum)
    }

    @Test func `what is beyond whole seconds becomes infinite`() {
        let most = MediaTime(value: .max, timescale: 1)
        #expect(most + most == .positiveInfinity)
        #expect(MediaTime(value: .min, timescale: 1) - most == .negativeInfinity)
        #expect(most + MediaTime(value: 1, timescale: .max) == most)
        #expect(most.converted(toTimescale: 90000) == .positiveInfinity)
        #expect(most.converted(toTimescale: 90000).value == .max)
        #expect(-MediaTime(value: .min, timescale: 1) == .positiveInfinity)
        #expect(-MediaTime(value: .min, timescale: 4) == MediaTime(value: 1 << 62, timescale: 2))
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

    @Test(
        "conversion rounds by the rule named",
        arguments: [
            // Times of -2.5, -1.25, 1.25, 1.5, 2.5 and 1.75 in quarters, in whole seconds.
            (FloatingPointRoundingRule.down, [-3, -2, 1, 1, 2, 1]), (.up, [-2, -1, 2, 2, 3, 2]),
            (.towardZero, [-2, -1, 1, 1, 2, 1]), (.awayFromZero, [-3, -2, 2, 2, 3, 2]),
            (.toNearestOrAwayFromZero, [-3, -1, 1, 2, 3, 2]), (.toNearestOrEven, [-2, -1, 1, 2, 2, 2]),
        ] as [(FloatingPointRoundingRule, [Int64])])
    func rounding(rule: FloatingPointRoundingRule, expected: [Int64]) {
        let rounded = [-10, -5, 5, 6, 10, 7].map {
            MediaTime(value: $0, timescale: 4).converted(toTimescale: 1, rounding: rule)
        }
        #expect(rounded.map(\.value) == expected)
        #expect(!rounded.contains { !$0.hasBeenRounded })
        #expect(!MediaTime(value: 8, timescale: 4).converted(toTimescale: 1, rounding: rule).hasBeenRounded)
    }

    @Test func `rounding is remembered by what is computed from it`() {
        let rounded = MediaTime(value: 1, timescale: 3).converted(toTimescale: 10)
        #expect((rounded + .zero).hasBeenRounded)
        #expect((.zero - rounded).hasBeenRounded)
        #expect(rounded.multiplied(by: 2).hasBeenRounded)
        #expect(rounded.converted(toTimescale: 20).hasBeenRounded)
        #expect(rounded == MediaTime(value: 3, timescale: 10))
    }

    @Test func `multiplication by a ratio is exact where it can be`() {
        let time = MediaTime(value: 1001, timescale: 30_000)
        #expect(time.multiplied(by: 30_000, over: 1001) == MediaTime(value: 1, timescale: 1))
        #expect(time.multiplied(by: 2).timescale == 30_000)
        #expect(time.multiplied(by: 1, over: 2) == MediaTime(value: 1001, timescale: 60_000))
        #expect(time.multiplied(by: -1, over: -3) == MediaTime(value: 1001, timescale: 90_000))
        #expect(time.multiplied(by: 1, over: -3) == MediaTime(value: -1001, timescale: 90_000))
        #expect(
            MediaTime(value: .max, timescale: 1).multiplied(by: .max, over: .max)
                == MediaTime(value: .max, timescale: 1))
        let third = MediaTime(value: 1, timescale: 2_000_000_000).multiplied(by: 1, over: 3)
        #expect(third.hasBeenRounded)
        #expect(third.value == 0)
        #expect(MediaTime(value: .min, timescale: 1).multiplied(by: .min, over: -1) == .negativeInfinity)
        #expect(MediaTime(value: .min, timescale: .max).multiplied(by: .max, over: .min).isNumeric)
    }

    @Test func `a ratio over zero is infinite, and zero over zero invalid`() {
        let time = MediaTime(value: -3, timescale: 5)
        #expect(time.multiplied(by: 2, over: 0) == .negativeInfinity)
        #expect(time.multiplied(by: -2, over: 0) == .positiveInfinity)
        #expect(time.multiplied(by: 0, over: 0) == .invalid)
        #expect(MediaTime.zero.multiplied(by: 1, over: 0) == .invalid)
        #expect(MediaTime.positiveInfinity.multiplied(by: -1) == .negativeInfinity)
        #expect(MediaTime.positiveInfinity.multiplied(by: 0) == .invalid)
        #expect(MediaTime.indefinite.multiplied(by: 3) == .indefinite)
        #expect(MediaTime.invalid.multiplied(by: 3) == .invalid)
    }

    private static let notNumbers: [MediaTime] = [.negativeInfinity, .indefinite, .positiveInfinity, .invalid]

    @Test func `a timescale that is not positive makes an invalid time`() {
        #expect(MediaTime(value: 1, timescale: 0) == .invalid)
        #expect(MediaTime(value: 1, timescale: -5) == .invalid)
        #expect(MediaTime(value: 1, timescale: .min) == .invalid)
        #expect(MediaTime.zero.converted(toTimescale: 0) == .invalid)
        #expect(MediaTime(.seconds(1), timescale: -1) == .invalid)
        #expect(!MediaTime.invalid.isValid && MediaTime.indefinite.isValid && MediaTime.zero.isNumeric)
    }

    @Test func `values that are no number have an order, and equal themselves`() {
        let number = MediaTime(value: .max, timescale: 1)
        let ordered: [MediaTime] = [
            .negativeInfinity, -number, .zero, number, .indefinite, .positiveInfinity, .invalid,
        ]
        for (index, left) in ordered.enumerated() {
            for (other, right) in ordered.enumerated() {
                #expect((left < right) == (index < other), "\(left) < \(right)")
                #expect((left == right) == (index == other), "\(left) == \(right)")
            }
        }
        #expect(Set(ordered + ordered).count == ordered.count)
    }

    @Test func `values that are no number go through arithmetic as they do in Core Media`() {
        let number = MediaTime(value: 7, timescale: 3)
        for time in Self.notNumbers {
            #expect(time + number == time)
            #expect(number + time == time)
            #expect(time - number == time)
            #expect(.invalid + time == .invalid)
            #expect(time - .invalid == .invalid)
            #expect(time.converted(toTimescale: 5) == time)
        }
        #expect(number - .positiveInfinity == .negativeInfinity)
        #expect(.positiveInfinity + .positiveInfinity == .positiveInfinity)
        #expect(.positiveInfinity - .negativeInfinity == .positiveInfinity)
        #expect(.positiveInfinity - .positiveInfinity == .invalid)
        #expect(.positiveInfinity + .negativeInfinity == .invalid)
        #expect(.indefinite + .positiveInfinity == .positiveInfinity)
        #expect(.indefinite - .positiveInfinity == .negativeInfinity)
        #expect(.indefinite + .indefinite == .indefinite)
    }

    @Test func `values that are no number convert without a trap`() {
        #expect(MediaTime.positiveInfinity.seconds == .infinity)
        #expect(MediaTime.invalid.seconds.isNaN)
        #expect(MediaTime.positiveInfinity.duration == .nanoseconds(Int64.max))
        #expect(MediaTime.invalid.duration == .zero)
        #expect(MediaTime(seconds: .nan, timescale: 600) == .invalid)
        #expect(MediaTime(seconds: -.infinity, timescale: 600) == .negativeInfinity)
        #expect(MediaTime(seconds: 1e300, timescale: 600) == .positiveInfinity)
        #expect(MediaTime(seconds: 0.1, timescale: 600) == MediaTime(value: 60, timescale: 600))
        #expect(MediaTime(seconds: 1, timescale: 0) == .invalid)
    }

    @Test func `arithmetic on any numbers agrees with exact arithmetic and never traps`() {
        var random = SeededGenerator(seed: 1)
        func time() -> MediaTime {
            let value = Int64(truncatingIfNeeded: random.next()) >> Int64.random(in: 0..<64, using: &random)
            let timescale = Int32.random(in: 1...(.max), using: &random) >> Int32.random(in: 0..<31, using: &random)
            return MediaTime(value: value, timescale: max(timescale, 1))
        }
        for _ in 0..<2000 {
            let (left, right) = (time(), time())
            let sum = left + right
            #expect((right + left) == sum)
            if !sum.hasBeenRounded { #expect(sum - right == left || (sum - right).hasBeenRounded) }
            #expect(
                (left < right) == (left.seconds < right.seconds)
                    || abs(left.seconds - right.seconds) <= abs(left.seconds) * 1e-15)
            if sum.isNumeric {
                let exact = left.seconds + right.seconds
                let tolerance = max(abs(left.seconds), abs(right.seconds)) * 1e-14 + 2 / Double(sum.timescale)
                #expect(abs(sum.seconds - exact) <= tolerance)
            }
            if left == right { #expect(left.hashValue == right.hashValue) }
            let ratio = (by: Int64(truncatingIfNeeded: random.next()), over: Int64(truncatingIfNeeded: random.next()))
            _ = left.multiplied(by: ratio.by, over: ratio.over)
            _ = left.converted(toTimescale: right.timescale)
        }
    }

    @Test func `a time takes sixteen bytes`() {
        #expect(MemoryLayout<MediaTime>.stride == 16)
    }
}
