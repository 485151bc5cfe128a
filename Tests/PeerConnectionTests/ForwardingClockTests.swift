import MediaCore
import Testing

@testable import PeerConnection

/// The due times of frames by another clock.
@Suite struct ForwardingClockTests {
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000)

    /// A clock after ten frames, thirty a second, the last of which has the timestamp 27,000.
    private func clock() -> ForwardingClock {
        var clock = ForwardingClock(clockRate: 90_000, timestamp: 0, arrival: Self.start)
        for frame in 0..<10 {
            clock.observe(timestamp: UInt32(frame) * 3000, arrival: Self.start + .milliseconds(34) * frame)
        }
        return clock
    }

    @Test(
        "timestamps that jump are followed at once",
        arguments: [2_000_000_000, 1_000_000, .max - 1_000_000] as [UInt32])
    func jump(to timestamp: UInt32) {
        var clock = clock()
        let arrival = Self.start + .milliseconds(340)
        clock.observe(timestamp: timestamp, arrival: arrival)
        #expect(clock.due(timestamp) == arrival)
        #expect(clock.timestamp(at: arrival + .seconds(1)) == timestamp &+ 90_000)
    }

    @Test("frames that come seconds late move nothing")
    func late() {
        var clock = clock()
        clock.observe(timestamp: 30_000, arrival: Self.start + .seconds(9))
        #expect(clock.due(90_000) < Self.start + .milliseconds(1100))
    }
}
