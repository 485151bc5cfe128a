import MediaCore
import Testing

@testable import CongestionControl
@testable import ResearchControllers

@Suite("NADA's congestion signal (RFC 8698, section 4.2)")
struct CongestionSignalTests {
    private var signal = CongestionSignal(parameters: NADAParameters())

    /// Intervals, the current one first, as packets with losses between them make them.
    private func intervals(_ lengths: [Int]) -> LossIntervals {
        var intervals = LossIntervals()
        var sequence: Int64 = 0
        for length in lengths.reversed() {
            for _ in 0..<length {
                intervals.received(sequence)
                sequence += 1
            }
            sequence += 1
        }
        return intervals
    }

    @Test(
        "delay beyond 50 ms counts the less, the longer it is (equation 1)",
        arguments: [(0.0, 0.0), (30, 30), (50, 50), (100, 30.3265), (200, 11.1565)])
    func warping(delay: Double, warped: Double) {
        #expect(abs(signal.warp(delay) - warped) < 0.001)
    }

    @Test("losses and marks are delay, by the square of their smoothed ratio (equation 2)")
    mutating func penalties() {
        // Smoothed: a tenth of each. 20 + 10·(0.001/0.01)² + 2·(0.01/0.01)² ms.
        signal.add(lossRatio: 0.01, markingRatio: 0.1)
        signal.update(queueingDelay: .milliseconds(20), lossIntervals: LossIntervals())
        #expect(abs(signal.value - 22.1) < 1e-9)
        #expect(signal.previous == 0)
        signal.update(queueingDelay: .milliseconds(20), lossIntervals: LossIntervals())
        #expect(abs(signal.previous - 22.1) < 1e-9)
    }

    @Test("more than 500 ms is not told apart")
    mutating func bound() {
        signal.add(lossRatio: 1, markingRatio: nil)
        signal.update(queueingDelay: .milliseconds(20), lossIntervals: LossIntervals())
        #expect(signal.value == 500)
    }

    @Test("without a delay the signal stays")
    mutating func noDelay() {
        signal.update(queueingDelay: .milliseconds(20), lossIntervals: LossIntervals())
        signal.update(queueingDelay: nil, lossIntervals: LossIntervals())
        #expect(signal.value == 20)
        #expect(signal.previous == 20)
    }

    @Test("delay is not warped without a loss")
    mutating func unwarped() {
        signal.update(queueingDelay: .milliseconds(100), lossIntervals: intervals([500]))
        #expect(signal.value == 100)
    }

    @Test("delay is warped for seven mean loss intervals, and back to itself over one more")
    mutating func expiry() {
        // One interval of ten packets ended: the mean is the longer of it and the current one.
        #expect(signal.warpedPart(of: intervals([5, 10])) == 1)
        // With eight intervals of ten, the current one changes the mean little: (75 + 5·10)/6 and 75 packets ago.
        let ended = Array(repeating: 10, count: 8)
        #expect(signal.warpedPart(of: intervals([60] + ended)) == 1)
        signal.update(queueingDelay: .milliseconds(100), lossIntervals: intervals([5, 10]))
        #expect(abs(signal.value - 30.3265) < 0.001)
    }

    @Test("the current interval counts for the mean where it makes it longer (RFC 5348, section 5.4)")
    func mean() {
        #expect(intervals([500]).mean == nil)
        #expect(intervals([5, 20, 10]).mean == 15)
        #expect(intervals([100, 20, 10]).mean == 60)
        // Four weigh 1, the others 0.8, 0.6, 0.4 and 0.2: (4·10 + 2·20)/6.
        let mean = intervals([1, 10, 10, 10, 10, 20, 20, 20, 20]).mean ?? 0
        #expect(abs(mean - 80.0 / 6) < 1e-9)
    }

    @Test("late packets begin no interval")
    func late() {
        var intervals = intervals([5, 10])
        intervals.received(3)
        #expect(intervals.current == 5)
    }
}
