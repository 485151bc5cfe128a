import MediaCore
import Testing

@testable import CongestionControl

@Suite("Throughput that is acknowledged")
struct RobustThroughputEstimatorTests {
    /// A packet's send time and arrival time, in ms.
    private struct Times {
        var sent: Double
        var received: Double
    }

    private func times(_ count: Int, _ make: (Double) -> Times) -> [Times] {
        (0..<count).map { make(Double($0)) }
    }

    /// The estimated rate for packets of 1000 bytes, in kbit/s.
    private func rate(_ packets: [Times]) -> Double? {
        var estimator = RobustThroughputEstimator()
        for packet in packets {
            estimator.add(size: bytes(1000), sendTime: at(packet.sent), receiveTime: at(packet.received))
        }
        estimator.update()
        return estimator.rate?.kilobitsPerSecond
    }

    @Test("there is no estimate before ten packets")
    func requiredPackets() {
        let packets = times(10) { Times(sent: $0 * 10, received: $0 * 10 + 50) }
        #expect(rate(Array(packets.prefix(9))) == nil)
        // Nine packets in 90 ms: the first only starts the clock.
        #expect(rate(packets) == 800)
    }

    @Test("a single pause does not lower the rate")
    func pause() {
        // 30 packets, 10 ms apart, with 200 ms between two of them: 290 ms and twice 8 kbit · 29.
        let packets = times(30) { Times(sent: $0 * 10, received: $0 * 10 + ($0 < 15 ? 50 : 240)) }
        #expect(rate(packets) == 800)
    }

    @Test("a burst after a pause is not taken for capacity: the rate of sending bounds it")
    func burst() {
        // Ten 10 ms apart, then 200 ms of nothing, then all that waited, 1 ms apart.
        let packets = times(30) { Times(sent: $0 * 10, received: $0 < 10 ? $0 * 10 + 50 : 330 + $0) }
        #expect(rate(packets) == 800)
    }

    @Test("a path that delivers slower than is sent shows its own rate")
    func saturated() {
        #expect(rate(times(30) { Times(sent: $0 * 10, received: $0 * 20 + 50) }) == 400)
    }

    @Test("the window is a second as long as it has 20 packets, and never over five seconds")
    func window() {
        // 100 packets 40 ms apart, then 101 at 10 ms, which are the last second.
        let first = times(100) { Times(sent: $0 * 40, received: $0 * 40) }
        let second = times(101) { Times(sent: 4000 + $0 * 10, received: 4000 + $0 * 10) }
        #expect(rate(first + second) == 800)
        // Packets each 600 ms: nine in five seconds, which are too few.
        #expect(rate(times(30) { Times(sent: $0 * 600, received: $0 * 600) }) == nil)
        // Packets each 100 ms: 20 of them, and 80 kbit/s.
        #expect(rate(times(60) { Times(sent: $0 * 100, received: $0 * 100) }) == 80)
    }

    @Test("packets that arrive out of order count where they belong")
    func reordering() {
        var packets = times(30) { Times(sent: $0 * 10, received: $0 * 10 + 50) }
        packets.swapAt(10, 12)
        #expect(rate(packets) == 800)
    }

    @Test("a receiver's clock that goes back by seconds restarts the estimate")
    func clockJump() {
        var packets = times(30) { Times(sent: $0 * 10, received: 10_000 + $0 * 10) }
        packets.append(Times(sent: 300, received: 300))
        #expect(rate(packets) == nil)
        packets += times(12) { Times(sent: 310 + $0 * 10, received: 310 + $0 * 10) }
        #expect(rate(packets) == 800)
    }
}
