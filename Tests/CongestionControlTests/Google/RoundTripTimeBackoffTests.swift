import MediaCore
import Testing

@testable import CongestionControl

@Suite("Round trips that are too long")
struct RoundTripTimeBackoffTests {
    @Test("three seconds of sending without feedback are too long, and feedback ends it")
    func silence() {
        var backoff = RoundTripTimeBackoff()
        backoff.packetSent(now: at(0))
        backoff.packetSent(now: at(3000))
        #expect(!backoff.isAboveLimit)
        backoff.packetSent(now: at(3001))
        #expect(backoff.isAboveLimit)
        backoff.heard(roundTripTime: .milliseconds(50), now: at(3100))
        #expect(!backoff.isAboveLimit)
    }

    @Test("the last round trip counts beside the time since")
    func roundTrip() {
        var backoff = RoundTripTimeBackoff()
        backoff.heard(roundTripTime: .milliseconds(1000), now: at(0))
        backoff.packetSent(now: at(2000))
        #expect(!backoff.isAboveLimit)
        backoff.packetSent(now: at(2001))
        #expect(backoff.isAboveLimit)
    }

    @Test("a pause in sending is no silence")
    func pause() {
        var backoff = RoundTripTimeBackoff()
        backoff.packetSent(now: at(0))
        backoff.heard(roundTripTime: .milliseconds(50), now: at(50))
        #expect(!backoff.isAboveLimit)
        backoff.packetSent(now: at(2000))
        #expect(!backoff.isAboveLimit)
    }

    @Test("the target falls by a fifth each second while it lasts")
    func target() {
        let limits = RateLimits(minimum: .kilobits(100), start: .kilobits(1000), maximum: .megabits(5))
        var bounds = SendRateBounds(limits: limits)
        bounds.backoff.packetSent(now: at(0))
        bounds.backoff.packetSent(now: at(4000))
        bounds.update(now: at(4000))
        #expect(bounds.target == .kilobits(800))
        #expect(bounds.limit == .feedbackTimeout)
        bounds.update(now: at(4900))
        #expect(bounds.target == .kilobits(800))
        bounds.update(now: at(5000))
        #expect(bounds.target == .kilobits(640))
    }
}
