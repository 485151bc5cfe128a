import MediaCore
import Testing

@testable import Conference

/// The mapping of the times of senders' streams onto the room's clock.
@Suite struct TrackClockTests {
    /// A stream of 30 frames a second whose clock runs a little too fast, over a network that delays packets.
    private struct Stream {
        var clock = TrackClock()
        var origin: Int64
        /// The part by which the sender's clock is faster than the room's.
        var skew = 0.0
        var random = SeededGenerator(seed: 5)

        /// The error of a frame's time that was captured so many seconds ago, and took 10 ms or up to 60 ms more.
        mutating func error(at seconds: Double) -> Double {
            let media = MediaTime(value: origin + Int64((seconds * (1 + skew) * 90_000).rounded()), timescale: 90_000)
            let delay =
                0.01 + (UInt8.random(in: 0..<4, using: &random) == 0 ? 0 : Double.random(in: 0..<0.06, using: &random))
            let arrival = MonotonicInstant.zero + .seconds(clamping: seconds + delay)
            let reading = clock.time(of: media, arrival: arrival)
            return (reading.time - .zero).seconds - seconds
        }
    }

    @Test("two streams whose clocks run 100 ppm apart stay within 20 ms of each other for two hours")
    func skew() {
        var video = Stream(origin: 4_000_000_000, skew: 50e-6)
        var audio = Stream(origin: 17, skew: -50e-6, random: SeededGenerator(seed: 6))
        var largest = 0.0
        for frame in 0..<(7200 * 30) {
            let seconds = Double(frame) / 30
            let difference = video.error(at: seconds) - audio.error(at: seconds)
            if seconds > 15 { largest = max(largest, abs(difference)) }
        }
        #expect(largest < 0.02, "\(largest * 1000) ms")
    }

    @Test("a jump of the sender's clock, back or far ahead, does not move the track", arguments: [-3.0, 20, 40_000])
    func jump(by jump: Double) {
        var stream = Stream(origin: 1_000_000)
        for frame in 0..<300 { _ = stream.error(at: Double(frame) / 30) }
        stream.origin += Int64(jump * 90_000)
        for frame in 300..<900 {
            #expect(abs(stream.error(at: Double(frame) / 30)) < 0.075)
        }
    }

    @Test("a stream that begins with packets that have waited is at its time at once")
    func backlog() {
        var clock = TrackClock()
        var last = MonotonicInstant.zero
        for packet in 0..<100 {
            // Seven packets come together, at the time of the last of them.
            let due = MonotonicInstant.zero + .milliseconds(20 * packet)
            let arrival = max(due, .zero + .milliseconds(120))
            let time = clock.time(of: MediaTime(value: Int64(packet) * 960, timescale: 48_000), arrival: arrival).time
            #expect(time >= last)
            if packet >= 6 { #expect(time == due) }
            last = time
        }
    }

    @Test("a jump is told once, with the first frame behind it")
    func anchor() {
        var clock = TrackClock()
        var anchors: [Int] = []
        for frame in 0..<90 {
            let jump: Int64 = frame < 60 ? 0 : 90_000 * 3600
            let reading = clock.time(
                of: MediaTime(value: Int64(frame) * 3000 + jump, timescale: 90_000),
                arrival: .zero + .milliseconds(frame * 1000 / 30))
            if reading.isAnchor { anchors.append(frame) }
        }
        #expect(anchors == [60])
    }

    @Test("a clock that runs a hundred times too fast places nothing far in the future")
    func runaway() {
        var clock = TrackClock()
        var farthest = Duration.zero
        for packet in 0..<4000 {
            let arrival = MonotonicInstant.zero + .milliseconds(packet)
            let media = MediaTime(value: Int64(packet) * 4800, timescale: 48_000)
            farthest = max(farthest, clock.time(of: media, arrival: arrival).time - arrival)
        }
        #expect(farthest <= TrackClock.tolerance, "\(farthest)")
    }

    @Test("a pause during which the sender's clock goes on is no jump")
    func pause() {
        var clock = TrackClock()
        for second in [0, 1, 2, 62, 63] {
            let reading = clock.time(
                of: MediaTime(value: Int64(second) * 48_000, timescale: 48_000),
                arrival: .zero + .seconds(second) + .milliseconds(5))
            #expect(!reading.isAnchor)
            #expect(reading.time == .zero + .seconds(second) + .milliseconds(5))
        }
    }
}
