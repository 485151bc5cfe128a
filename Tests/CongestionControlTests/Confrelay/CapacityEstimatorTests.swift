import Testing

@testable import CongestionControl

@Suite("The capacity from spacings")
struct CapacityEstimatorTests {
    private let parameters = ConfrelayParameters()

    @Test("a spacing counts with the time that it took")
    func weights() {
        var capacity = CapacityEstimator(start: 100_000, parameters: parameters)
        // The start counts as 10 ms: 1000 bytes. With 1000 bytes in 50 ms half of it is forgotten: 1500 in 55.
        capacity.add(bytes: 1000, busyTime: 0.05)
        #expect(abs(capacity.rate - 1500 / 0.055) < 1)
    }

    @Test("it is measured once little is left of the rate to start with")
    func measured() {
        var capacity = CapacityEstimator(start: 100_000, parameters: parameters)
        capacity.add(bytes: 1000, busyTime: 0.1)
        #expect(!capacity.isMeasured)
        capacity.add(bytes: 1000, busyTime: 0.1)
        capacity.add(bytes: 1000, busyTime: 0.1)
        #expect(capacity.isMeasured)
    }

    @Test("jitter makes the memory longer")
    func jitter() {
        var steady = CapacityEstimator(start: 100_000, parameters: parameters)
        for _ in 0..<100 { steady.add(bytes: 1000, busyTime: 0.01) }
        var jittery = steady
        steady.add(bytes: 1000, busyTime: 0.03)
        jittery.add(bytes: 1000, busyTime: 0.03, jitter: 0.01)
        #expect(steady.rate < jittery.rate)
    }

    @Test("silence lowers the rate, an interruption by no more than its first 80 ms")
    func silence() {
        var capacity = CapacityEstimator(start: 100_000, parameters: parameters)
        for _ in 0..<100 { capacity.add(bytes: 1000, busyTime: 0.01) }
        #expect(capacity.rate(whileSilentFor: 0, jitter: 0) == capacity.rate)
        let short = capacity.rate(whileSilentFor: 0.04, jitter: 0)
        let long = capacity.rate(whileSilentFor: 0.08, jitter: 0)
        #expect(short < capacity.rate)
        #expect(long < short)
        #expect(capacity.rate(whileSilentFor: 10, jitter: 0) == long)
    }

    @Test(
        "a packet that takes longer than an interruption measures a slow link",
        arguments: [15_000, 60_000, 100_000] as [Double])
    func slowLink(bitsPerSecond: Double) {
        var capacity = CapacityEstimator(start: 37_500, parameters: parameters)
        for _ in 0..<20 { capacity.add(bytes: 1000, busyTime: 8000 / bitsPerSecond) }
        #expect(abs(capacity.rate * 8 / bitsPerSecond - 1) < 0.05, "\(capacity.rate * 8) bit/s")
    }

    @Test("growth and a limit change the rate by their values")
    func growth() {
        var capacity = CapacityEstimator(start: 100_000, parameters: parameters)
        capacity.grow(by: 1.5)
        #expect(abs(capacity.rate - 150_000) < 1)
        capacity.limit(to: 120_000)
        #expect(abs(capacity.rate - 120_000) < 1)
    }
}
