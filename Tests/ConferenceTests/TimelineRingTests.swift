import Testing

@testable import Conference

/// The buckets and counters that the timeline of a room is made of.
@Suite struct TimelineRingTests {
    @Test("a ring keeps the newest buckets and forgets the others")
    func ring() {
        var ring = TimelineRing(empty: 0, count: 4)
        #expect(ring[0] == nil)
        for index in Int64(-3)...6 { ring.update(index) { $0 += Int(index) } }
        #expect((0...7).map { ring[$0] } == [nil, nil, nil, 3, 4, 5, 6, nil])
        ring.update(4) { $0 += 10 }
        #expect(ring[4] == 14)
        ring.update(2) { $0 = 99 }
        #expect(ring[2] == nil && ring[6] == 6)
    }

    @Test("buckets in which nothing happened are empty, however many there were")
    func gaps() {
        for gap in [2, 3, 4, 5, 1000, Int64.max / 4] {
            var ring = TimelineRing(empty: 0, count: 4)
            ring.update(0) { $0 = 7 }
            ring.update(gap) { $0 = 8 }
            #expect(ring[gap] == 8)
            for index in max(1, gap - 3)..<gap { #expect(ring[index] == 0) }
            #expect(ring[0] == (gap < 4 ? 7 : nil))
        }
    }

    @Test("a counter that restarts counts from zero, and a full bucket stays full")
    func counters() {
        var reading = CounterReading()
        #expect([3, 10, 10, 4].map { reading.advance(to: $0) } == [3, 7, 0, 4])
        var count: UInt16 = 65_530
        count.count(.max)
        #expect(count == .max)
    }
}
