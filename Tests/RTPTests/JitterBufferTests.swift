import MediaCore
import Testing

@testable import RTP

struct JitterBufferTests {
    private var buffer = JitterBuffer()

    /// Inserts the packets at `time`.
    @discardableResult
    private mutating func insert(_ sequenceNumbers: UInt16..., at time: Int64) -> [JitterBuffer.InsertResult] {
        sequenceNumbers.map { buffer.insert(.numbered($0), now: .milliseconds(time)) }
    }

    private mutating func pop(at time: Int64) -> [UInt16] {
        buffer.popReady(now: .milliseconds(time)).map(\.packet.sequenceNumber)
    }

    private mutating func nacks(at time: Int64) -> [UInt16] { buffer.nacksDue(now: .milliseconds(time)) }

    // MARK: Order

    @Test mutating func `packets in order come out at once`() {
        insert(10, 11, 12, at: 0)
        #expect(pop(at: 0) == [10, 11, 12])
        #expect(pop(at: 0) == [])
        #expect(buffer.nextDeadline == nil)
    }

    @Test mutating func `of a fast stream that lacks every second one packets are requested together, a bit later`() {
        var (lists, requested) = (0, 0)
        for index in 0..<30_000 as Range<Int64> {
            let now = MonotonicInstant(nanoseconds: index * 167_000)
            _ = buffer.insert(.numbered(UInt16(truncatingIfNeeded: index * 2)), now: now)
            _ = buffer.popReady(now: now)
            let due = buffer.nacksDue(now: now)
            if !due.isEmpty { lists += 1 }
            requested += due.count
            if let deadline = buffer.nextDeadline { #expect(deadline > now) }
        }
        #expect((1000...7000).contains(lists), "\(lists) lists")
        #expect(requested > 25_000, "\(requested) requests")
    }

    @Test mutating func `a waiting frame is put together unless it has more packets than are wanted`() {
        insert(10, at: 0)
        #expect(pop(at: 0) == [10])
        for number in 12...15 as ClosedRange<UInt16> {
            var packet = RTPPacket.numbered(number)
            (packet.timestamp, packet.marker) = (3000, number == 15)
            _ = buffer.insert(packet, now: .zero)
        }
        #expect(buffer.waitingFrame(with: 13, atMost: 4)?.map(\.packet.sequenceNumber) == [12, 13, 14, 15])
        #expect(buffer.waitingFrame(with: 13, atMost: 3) == nil)
    }

    @Test mutating func `reordered packets come out in order, with their own arrival times`() {
        insert(10, 12, at: 0)
        #expect(pop(at: 0) == [10])
        insert(11, at: 3)
        let packets = buffer.popReady(now: .milliseconds(3))
        #expect(packets.map(\.sequence) == [11, 12])
        #expect(packets.map(\.arrival) == [.milliseconds(3), .milliseconds(0)])
        #expect(buffer.statistics.reordered == 1)
        #expect(buffer.statistics.recovered == 0)
    }

    @Test mutating func `sequence numbers go on across 65535`() {
        insert(65534, 0, at: 0)
        insert(65535, 1, at: 1)
        #expect(buffer.popReady(now: .milliseconds(1)).map(\.sequence) == [65534, 65535, 65536, 65537])
    }

    @Test mutating func `a packet that is here already is a duplicate`() {
        #expect(insert(10, 12, 12, at: 0) == [.inserted, .inserted, .duplicate])
        #expect(buffer.count == 2)
        #expect(buffer.statistics.duplicates == 1)
    }

    @Test mutating func `a packet behind what was handed out is late`() {
        insert(10, 11, at: 0)
        _ = pop(at: 0)
        #expect(insert(11, 9, at: 1) == [.late, .late])
        #expect(pop(at: 1) == [])
    }

    @Test mutating func `the ring grows with the stream and keeps what it holds`() {
        insert(0, at: 0)
        _ = pop(at: 0)
        for sequenceNumber in UInt16(2)...1500 { insert(sequenceNumber, at: 1) }
        #expect(pop(at: 1) == [])
        insert(1, at: 2)
        #expect(pop(at: 2) == Array(1...1500))
    }

    // MARK: Asking again

    @Test mutating func `a gap is not asked for while it may be reordering`() {
        insert(10, 12, at: 0)
        #expect(nacks(at: 0) == [])
        #expect(nacks(at: 4) == [])
        #expect(nacks(at: 5) == [11])
    }

    @Test mutating func `a gap is asked for once per round trip`() {
        buffer.setRoundTripTime(.milliseconds(50))
        insert(10, 13, at: 0)
        #expect(nacks(at: 5) == [11, 12])
        #expect(nacks(at: 64) == [])
        #expect(nacks(at: 65) == [11, 12])
        #expect(nacks(at: 65) == [])
        #expect(buffer.statistics.requested == 4)
    }

    @Test mutating func `on a short path a gap is asked for every 20 ms`() {
        buffer.setRoundTripTime(.zero)
        insert(10, 12, at: 0)
        #expect(nacks(at: 5) == [11])
        #expect(nacks(at: 24) == [])
        #expect(nacks(at: 25) == [11])
    }

    @Test mutating func `what arrived is not asked for`() {
        insert(10, 14, at: 0)
        insert(12, at: 2)
        #expect(nacks(at: 5) == [11, 13])
        insert(11, at: 60)
        #expect(nacks(at: 125) == [13])
        #expect(buffer.statistics.reordered == 1)
        #expect(buffer.statistics.recovered == 1)
    }

    @Test mutating func `nothing is asked for when the answer would come too late`() {
        buffer.setRoundTripTime(.milliseconds(150))
        insert(10, 12, at: 0)
        #expect(pop(at: 0) == [10])
        #expect(nacks(at: 5) == [11])
        #expect(nacks(at: 185) == [11])
        #expect(nacks(at: 365) == [11])
        // The answer to a request at 545 ms would come at 695 ms, the gap is given up at 600.
        #expect(nacks(at: 545) == [])
        #expect(buffer.nextDeadline == .milliseconds(600))
    }

    @Test mutating func `a gap is asked for once even when the round trip seems too long`() {
        buffer.setRoundTripTime(.seconds(3))
        insert(10, 12, at: 0)
        #expect(nacks(at: 5) == [11])
        #expect(nacks(at: 399) == [])
    }

    @Test mutating func `without retransmission nothing is asked for`() {
        buffer = JitterBuffer(configuration: .withoutRetransmission)
        insert(10, 12, at: 0)
        #expect(pop(at: 0) == [10])
        #expect(nacks(at: 20) == [])
        #expect(buffer.nextDeadline == .milliseconds(50))
        #expect(pop(at: 50) == [12])
    }

    // MARK: Giving up

    @Test mutating func `a gap is given up when the packet behind it has waited the maximum delay`() {
        insert(10, 12, at: 0)
        #expect(pop(at: 0) == [10])
        #expect(pop(at: 399) == [])
        let packets = buffer.popReady(now: .milliseconds(400))
        #expect(packets.map(\.sequence) == [12])
        #expect(buffer.statistics.lost == 1)
        #expect(insert(11, at: 401) == [.late])
    }

    @Test mutating func `each gap has its own deadline`() {
        buffer = JitterBuffer(configuration: .init(nackEnabled: false))
        insert(10, 12, at: 0)
        insert(14, at: 100)
        #expect(pop(at: 400) == [10, 12])
        #expect(buffer.nextDeadline == .milliseconds(500))
        #expect(pop(at: 500) == [14])
    }

    @Test mutating func `a packet filled in late does not prolong the wait for one in front of it`() {
        insert(10, 13, at: 0)
        insert(12, at: 300)
        #expect(pop(at: 400) == [10, 12, 13])
    }

    @Test mutating func `a gap is asked for once per round trip for as long as it is open`() {
        buffer.setRoundTripTime(.milliseconds(50))
        insert(10, 12, at: 0)
        #expect(pop(at: 0) == [10])
        var requests: [Int64] = []
        for time in Int64(0)..<400 where !nacks(at: time).isEmpty { requests.append(time) }
        #expect(requests == [5, 65, 125, 185, 245, 305])
        #expect(pop(at: 400) == [12])
    }

    @Test(arguments: [(19, [5, 65, 125, 185, 245, 305]), (20, [5, 65, 185])] as [(UInt16, [Int64])])
    mutating func `more than eight missing packets are asked for ever later`(next: UInt16, times: [Int64]) {
        buffer.setRoundTripTime(.milliseconds(50))
        insert(10, next, at: 0)
        let requests = (Int64(0)..<400).filter { !nacks(at: $0).isEmpty }
        #expect(requests == times)
    }

    @Test mutating func `a round trip that is longer than the time between requests is learned`() {
        var time: Int64 = 0
        for sequenceNumber in stride(from: UInt16(0), to: 400, by: 2) {
            insert(sequenceNumber, at: time)
            insert(sequenceNumber + 2, at: time)
            // Each packet is there 300 ms after its first request.
            while nacks(at: time).isEmpty { time += 1 }
            for _ in 0..<300 {
                time += 1
                _ = nacks(at: time)
            }
            insert(sequenceNumber + 1, at: time)
            _ = pop(at: time)
        }
        let requested = buffer.statistics.requested
        insert(500, at: time)
        #expect(nacks(at: time + 5).count == 99)
        #expect(nacks(at: time + 300) == [])
        #expect(buffer.statistics.requested == requested + 99)
    }

    @Test mutating func `the deadline is that of the next request, then of giving up`() {
        buffer.setRoundTripTime(.milliseconds(250))
        insert(10, 12, at: 0)
        _ = pop(at: 0)
        #expect(buffer.nextDeadline == .milliseconds(5))
        _ = nacks(at: 5)
        #expect(buffer.nextDeadline == .milliseconds(305))
        for time: Int64 in [305, 605, 905] { _ = nacks(at: time) }
        #expect(buffer.nextDeadline == .milliseconds(1000))
        _ = pop(at: 1000)
        #expect(buffer.nextDeadline == nil)
    }

    @Test mutating func `a round trip that turns out longer moves the deadline of a gap that is open`() {
        buffer.setRoundTripTime(.milliseconds(80))
        insert(10, 12, at: 0)
        _ = pop(at: 0)
        for time: Int64 in [5, 101, 197, 293] { _ = nacks(at: time) }
        #expect(buffer.nextDeadline == .milliseconds(389))
        _ = nacks(at: 389)
        #expect(buffer.nextDeadline == .milliseconds(400))
        buffer.setRoundTripTime(.milliseconds(150))
        #expect(buffer.nextDeadline == .milliseconds(600))
    }

    // MARK: Starting anew

    @Test(arguments: [UInt16(5000), 40_000, 60_000])
    mutating func `a jump of thousands starts anew with the packet that jumped`(sequenceNumber: UInt16) {
        insert(10, 12, 13, at: 0)
        #expect(pop(at: 0) == [10])
        #expect(insert(sequenceNumber, at: 1) == [.overflow])
        insert(sequenceNumber + 1, at: 1)
        let packets = buffer.popReady(now: .milliseconds(1))
        #expect(packets.map(\.packet.sequenceNumber) == [sequenceNumber, sequenceNumber + 1])
        #expect(packets.first.map { $0.sequence > 14 } == true)
        #expect(buffer.statistics.resets == 1)
        #expect(buffer.statistics.discarded == 2)
        #expect(buffer.nacksDue(now: .milliseconds(100)) == [])
    }

    @Test mutating func `nothing of before is left when a large buffer starts anew again and again`() {
        for round in 0..<200 {
            // Each pair spans nearly the whole ring, and the next pair starts beyond it.
            let first = UInt16(truncatingIfNeeded: round * 5000)
            insert(first, first &+ 2047, at: 100 * Int64(round))
            #expect(buffer.count == 2)
            #expect(pop(at: 100 * Int64(round)) == [first])
        }
        #expect(buffer.statistics.resets == 199)
        #expect(buffer.statistics.discarded == 199)
    }

    @Test mutating func `a stream that jumps ahead again and again starts anew, one with losses does not`() {
        let numbers = (0..<100).map { UInt16(truncatingIfNeeded: $0 * 2000) }
        for number in numbers {
            insert(number, at: 0)
            _ = pop(at: 0)
        }
        #expect(buffer.missingCount == 0)
        #expect(insert(numbers[99] &+ 1001, at: 1000) == [.inserted])
        #expect(buffer.missingCount == 1000)
    }

    @Test mutating func `a sender that starts anew a little behind is followed once nothing else comes`() {
        for sequenceNumber in UInt16(1000)..<1100 { insert(sequenceNumber, at: 0) }
        #expect(pop(at: 0).count == 100)
        var results: [JitterBuffer.InsertResult] = []
        for index in 0..<20 { results += insert(500 + UInt16(index), at: 1000 + Int64(index)) }
        #expect(results == Array(repeating: .late, count: 15) + [.overflow] + Array(repeating: .inserted, count: 4))
        #expect(buffer.popReady(now: .milliseconds(1020)).map(\.sequence).allSatisfy { $0 > 1100 })
    }

    @Test mutating func `late packets between others do not start anything anew`() {
        for sequenceNumber in UInt16(1000)..<1100 { insert(sequenceNumber, at: 0) }
        _ = pop(at: 0)
        for index in UInt16(0)..<50 {
            #expect(insert(500 + index, at: 1000) == [.late])
            #expect(insert(1100 + index, at: 1000) == [.inserted])
        }
        #expect(buffer.statistics.resets == 0)
    }

    @Test mutating func `repairs that come too late, or from elsewhere, do not start anything anew`() {
        insert(10, 60, at: 0)
        #expect(pop(at: 1000) == [10, 60])
        for sequenceNumber in Array(11..<60) + [5000, 40_000] as [UInt16] {
            #expect(buffer.insert(.numbered(sequenceNumber), isRepair: true, now: .milliseconds(1000)) == .late)
        }
        #expect(insert(61, at: 1001) == [.inserted])
        #expect(pop(at: 1001) == [61])
        #expect(buffer.statistics.resets == 0)
    }

    @Test mutating func `a buffer that nobody empties starts anew instead of growing`() {
        buffer = JitterBuffer(configuration: .init(capacity: 100))
        for sequenceNumber in UInt16(0)..<100 { #expect(insert(sequenceNumber, at: 0) == [.inserted]) }
        #expect(insert(100, at: 0) == [.overflow])
        // The sequence jumps, so that the loss is seen behind the buffer.
        #expect(buffer.popReady(now: .zero).map(\.sequence) == [100 + 65536])
    }
}
