import MediaCore
import Testing

@testable import Conference

@Suite("A device that encodes and fails")
struct HardwareFallbackTests {
    private func time(_ seconds: Double) -> MonotonicInstant { .zero + .seconds(seconds) }

    @Test("is used on after two errors, and left after three in two seconds")
    func errors() {
        var fallback = HardwareFallback()
        #expect(fallback.frameFailed(now: time(1)) == nil)
        #expect(fallback.frameFailed(now: time(2)) == nil)
        #expect(fallback.allowsDevice(now: time(2)))
        #expect(fallback.frameFailed(now: time(3.1)) == nil)
        #expect(fallback.frameFailed(now: time(3.5)) == .seconds(30))
        #expect(!fallback.allowsDevice(now: time(3.6)))
    }

    @Test("is tried again after 30, 60 and 120 seconds")
    func rests() {
        var fallback = HardwareFallback()
        var now = 0.0
        for rest in [30.0, 60, 120, 120] {
            #expect(fallback.leave(now: time(now)) == .seconds(rest))
            #expect(!fallback.allowsDevice(now: time(now + rest - 0.1)))
            now += rest
            #expect(fallback.allowsDevice(now: time(now)))
        }
    }

    @Test("is left for 30 seconds again after it has worked for two minutes")
    func recovered() {
        var fallback = HardwareFallback()
        _ = fallback.leave(now: time(0))
        _ = fallback.leave(now: time(30))
        #expect(fallback.leave(now: time(90 + 121)) == .seconds(30))
    }
}
