import MediaCore
import Testing

@Suite("Token bucket")
struct TokenBucketTests {
    private let start = MonotonicInstant.zero + .seconds(5)

    /// `#expect` cannot call a mutating method.
    private func take(_ tokens: Double = 1, from bucket: inout TokenBucket, now: MonotonicInstant) -> Bool {
        bucket.take(tokens, now: now)
    }

    @Test("A full bucket allows a burst of its capacity, and then its rate")
    func burstAndRate() {
        var bucket = TokenBucket(rate: 10, capacity: 5, now: start)
        let burst = (0..<20).count { _ in bucket.take(now: start) }
        #expect(burst == 5)
        var taken = 0
        for millisecond in 1...1000 where bucket.take(now: start + .milliseconds(millisecond)) { taken += 1 }
        #expect((9...10).contains(taken))
    }

    @Test("A refused request takes no tokens")
    func refusalTakesNothing() {
        var bucket = TokenBucket(rate: 1, capacity: 10, now: start)
        #expect(take(8, from: &bucket, now: start))
        #expect(!take(3, from: &bucket, now: start))
        #expect(take(2, from: &bucket, now: start))
    }

    @Test("A long silence fills the bucket up to its capacity only")
    func capacityBoundsTheRefill() {
        var bucket = TokenBucket(rate: 1000, capacity: 3, now: start)
        #expect(take(3, from: &bucket, now: start))
        bucket.refill(now: .distantFuture)
        #expect(bucket.tokens == 3)
    }

    @Test("Time that runs backwards neither adds nor removes tokens")
    func timeRunsBackwards() {
        var bucket = TokenBucket(rate: 1, capacity: 2, now: start)
        #expect(take(2, from: &bucket, now: start))
        #expect(!take(from: &bucket, now: MonotonicInstant(nanoseconds: .min)))
        #expect(!take(from: &bucket, now: start + .milliseconds(500)))
        #expect(take(from: &bucket, now: start + .seconds(1)))
    }

    @Test("The next available time is the first at which the tokens can be taken")
    func nextAvailable() throws {
        var bucket = TokenBucket(rate: 3, capacity: 7, now: start)
        #expect(bucket.nextAvailable(7, now: start) == start)
        #expect(take(7, from: &bucket, now: start))
        let next = try #require(bucket.nextAvailable(2, now: start))
        #expect(!take(2, from: &bucket, now: next - .microseconds(1)))
        #expect(take(2, from: &bucket, now: next))
        #expect(bucket.nextAvailable(8, now: start) == nil)
    }

    @Test(
        "Invalid numbers count as zero and never trap",
        arguments: [Double.nan, -1, -.infinity, .infinity, 0, .greatestFiniteMagnitude, .leastNonzeroMagnitude])
    func invalidNumbers(number: Double) {
        for (rate, capacity) in [(number, 4), (4, number), (number, number)] {
            var bucket = TokenBucket(rate: rate, capacity: capacity, now: start)
            for now in [start, MonotonicInstant(nanoseconds: .min), .distantFuture] {
                _ = bucket.take(number, now: now)
                _ = bucket.take(now: now)
                _ = bucket.nextAvailable(number, now: now)
                _ = bucket.nextAvailable(now: now)
                #expect(!bucket.tokens.isNaN && bucket.tokens >= 0)
            }
        }
        var empty = TokenBucket(rate: 0, capacity: 1, now: start)
        #expect(take(from: &empty, now: start))
        #expect(empty.nextAvailable(now: start) == nil)
    }

    @Test("A charge may exceed the tokens, and is owed for at most ten seconds")
    func debt() {
        var bucket = TokenBucket(rate: 2, capacity: 4)
        // A full bucket lets pass more than it holds.
        let isFullAvailable = bucket.isAvailable(100, now: start)
        #expect(isFullAvailable)
        bucket.charge(100)
        #expect(bucket.tokens == -20)
        let isEarlyAvailable = bucket.isAvailable(0, now: start + .seconds(10))
        #expect(!isEarlyAvailable)
        let isLateAvailable = bucket.isAvailable(1, now: start + .seconds(11))
        #expect(isLateAvailable)
    }

    @Test("If not all of a wanted amount is there, the available part is taken")
    func partly() {
        var bucket = TokenBucket(rate: 2, capacity: 4, now: start)
        let taken = (0..<3).map { _ in bucket.take(atMost: 3, now: start) }
        #expect(taken == [3, 1, 0])
        let later = bucket.take(atMost: 3, now: start + .seconds(1))
        #expect(later == 2)
    }

    @Test("A bucket of a new size is as full as before")
    func newRate() {
        var bucket = TokenBucket(rate: 10, capacity: 10, now: start)
        #expect(take(5, from: &bucket, now: start))
        bucket.setRate(4, capacity: 4, now: start)
        #expect(bucket.tokens == 2)
        #expect(bucket.rate == 4)
    }
}
