import MediaCore
import Testing

@testable import EncoderSharing

/// The keyframes that one receiver may request from a shared encoder.
@Suite struct KeyframeLimiterTests {
    private func at(_ seconds: Double) -> MonotonicInstant { .zero + .seconds(seconds) }

    @Test("two are granted at once, and one more every ten seconds")
    func rate() {
        var limiter = KeyframeLimiter()
        func grants(_ times: [Double]) -> [Bool] { times.map { limiter.take(now: at($0)) } }
        #expect(grants([0, 0, 0, 9.9]) == [true, true, false, false])
        #expect(grants([10.1, 10.2, 20.2, 60, 60, 60]) == [true, false, true, true, true, false])
    }

    @Test("a receiver that asked for more counts as broken for half a minute, one that did not never")
    func suspicion() {
        var limiter = KeyframeLimiter()
        for _ in 0..<2 { _ = limiter.take(now: at(0)) }
        #expect(!limiter.isExceeded(now: at(0)))
        _ = limiter.take(now: at(1))
        #expect(limiter.isExceeded(now: at(1)) && limiter.isExceeded(now: at(30.9)))
        #expect(!limiter.isExceeded(now: at(31)))
    }
}
