import MediaCore
import Testing

@testable import RTP

struct TimeTests {
    @Test func `sequence numbers go on across 65535`() {
        var unwrapper = SequenceUnwrapper()
        #expect(unwrapper.unwrap(65534) == 65534)
        #expect(unwrapper.unwrap(65535) == 65535)
        #expect(unwrapper.unwrap(0) == 65536)
        #expect(unwrapper.unwrap(65535) == 65535)
        #expect(unwrapper.unwrap(1) == 65537)
    }

    @Test func `a sequence number before the first may be negative`() {
        var unwrapper = SequenceUnwrapper()
        _ = unwrapper.unwrap(0)
        #expect(unwrapper.unwrap(65535) == -1)
    }

    @Test func `sequence numbers unwrap over many turns in steps of any size`() {
        var generator = SeededGenerator(seed: 3)
        var unwrapper = SequenceUnwrapper()
        var expected = Int64(unwrapper.unwrap(1000))
        for _ in 0..<10_000 {
            expected += Int64.random(in: -30_000...32_000, using: &generator)
            #expect(unwrapper.unwrap(UInt16(truncatingIfNeeded: expected)) == expected)
        }
    }

    @Test func `looking at a number does not move the unwrapper`() {
        var unwrapper = SequenceUnwrapper()
        _ = unwrapper.unwrap(10)
        #expect(unwrapper.peek(30_000) == 30_000)
        #expect(unwrapper.peek(50_000) == 50_000 - 65536)
        #expect(unwrapper.last == 10)
    }

    @Test func `timestamps go on across 2 to the 32nd`() {
        var unwrapper = TimestampUnwrapper()
        #expect(unwrapper.unwrap(.max - 9) == Int64(UInt32.max) - 9)
        #expect(unwrapper.unwrap(2990) == Int64(UInt32.max) + 2991)
        #expect(unwrapper.unwrap(.max) == Int64(UInt32.max))
    }

    @Test func `the Unix epoch is 2208988800 seconds after 1900`() {
        let time = NTPTime(unixTime: .milliseconds(1500))
        #expect(time.rawValue == UInt64(2_208_988_801) << 32 | 0x8000_0000)
    }

    @Test func `the middle of an NTP time is what report blocks echo`() {
        // The example of RFC 3550, figure 2.
        #expect(NTPTime(rawValue: 0xB44D_B705_2000_0000).middle32 == 0xB705_2000)
    }

    @Test func `the wall clock runs with the monotonic clock, and back`() {
        let clock = WallClock(ntpAtOrigin: NTPTime(rawValue: 0xFFFF_FFFF_0000_0000))
        let instant = MonotonicInstant.milliseconds(2500)
        #expect(clock.ntpTime(at: instant).rawValue == 0x0000_0001_8000_0000)
        #expect(clock.instant(at: clock.ntpTime(at: instant)) == instant)
        let odd = MonotonicInstant(nanoseconds: 123_456_789_012_345)
        #expect(clock.instant(at: clock.ntpTime(at: odd)) == odd)
    }
}
