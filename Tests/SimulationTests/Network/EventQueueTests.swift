import MediaCore
import Testing

@testable import Simulation

@Suite("Events and random numbers")
struct EventQueueTests {
    @Test("events come in the order of time, and of scheduling within one time")
    func order() {
        var queue = EventQueue<Int>()
        var generator = SeededGenerator(seed: 4)
        let times = (0..<500).map { _ in Double(Int.random(in: 0..<50, using: &generator)) }
        for (index, time) in times.enumerated() { queue.schedule(index, at: at(time)) }
        #expect(queue.popDue(now: at(-1)) == nil)
        var popped: [Int] = []
        while let event = queue.popDue(now: at(100)) { popped.append(event) }
        #expect(popped == times.indices.sorted { (times[$0], $0) < (times[$1], $1) })
        #expect(queue.count == 0)
    }

    @Test("normal numbers have their mean and deviation and stay within the cut")
    func normal() {
        var generator = SeededGenerator(seed: 8)
        let values = (0..<20_000).map { _ in generator.nextNormal(cutAt: 3) }
        let mean = values.reduce(0, +) / Double(values.count)
        let variance = values.reduce(0) { $0 + $1 * $1 } / Double(values.count)
        #expect(abs(mean) < 0.03)
        #expect(abs(variance - 0.97) < 0.04)
        #expect(values.allSatisfy { abs($0) <= 3 })
    }
}
