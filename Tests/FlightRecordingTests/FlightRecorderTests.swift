import AllocationCounter
import CongestionControl
import MediaCore
import Testing

@testable import FlightRecording

@Suite("Recording")
struct FlightRecorderTests {
    private func packet(_ sequence: Int) -> (SentPacket, MonotonicInstant) {
        let time = FlightHeader.test.start + .milliseconds(5 * sequence)
        return (SentPacket(transportSequence: Int64(sequence), size: DataSize(bytes: 1200), sendTime: time), time)
    }

    @Test("a recording ends in order when it is as large as it may become")
    func limit() throws {
        let memory = FlightMemory()
        let recorder = FlightRecorder(header: .test, limit: DataSize(bytes: 5000), sink: memory)
        for sequence in 0..<2000 {
            let (packet, time) = packet(sequence)
            recorder.record(.packetSent(packet), now: time)
        }
        recorder.finish()
        #expect(memory.isClosed)
        #expect((4900...5000).contains(memory.bytes.count))
        let decoded = try decode(memory.bytes)
        #expect(decoded.ending == .limitReached)
        #expect(decoded.records.count > 400)
    }

    @Test("a recorder that is let go of ends its recording")
    func lettingGo() throws {
        let memory = FlightMemory()
        do {
            let recorder = FlightRecorder(header: .test, sink: memory)
            recorder.record(.demandChanged(.kilobits(100)), now: FlightHeader.test.start)
        }
        #expect(memory.isClosed)
        #expect(try decode(memory.bytes).ending == .closed)
    }

    @Test("records that find no room in the ring are counted, and none is taken after the first of them")
    func overrun() throws {
        let ring = FlightRing(capacity: DataSize(bytes: 2000))
        let recorder = FlightRecorder(header: .test, sink: ring)
        for sequence in 0..<500 {
            let (packet, time) = packet(sequence)
            recorder.record(.packetSent(packet), now: time)
        }
        var bytes: [UInt8] = []
        let state = ring.drain { bytes += $0 }
        let records = try decode(bytes).records
        #expect(state == .overrun(lostRecords: 500 - records.count))
        // There is room again, but a gap would make the recording worthless.
        let (packet, time) = packet(500)
        recorder.record(.packetSent(packet), now: time)
        recorder.finish()
        var more: [UInt8] = []
        #expect(ring.drain { more += $0 } == .overrun(lostRecords: 501 - records.count))
        #expect(more.isEmpty)
    }

    @Test("bytes come out of a ring as they went in, however often it wraps, from one thread to another")
    func ring() async {
        let ring = FlightRing(capacity: DataSize(bytes: 1009))
        let consumer = Task.detached {
            var sum = 0
            var expected: UInt8 = 0
            while true {
                let state = ring.drain { bytes in
                    for byte in bytes {
                        if byte == expected { sum += 1 }
                        expected &+= 1
                    }
                }
                if state != .open { return sum }
                await Task.yield()
            }
        }
        var random = SeededGenerator(seed: 5)
        var next: UInt8 = 0
        var total = 0
        while total < 200_000 {
            let record = (0..<Int.random(in: 1...300, using: &random)).map { next &+ UInt8(truncatingIfNeeded: $0) }
            while !ring.append(record) { await Task.yield() }
            next &+= UInt8(truncatingIfNeeded: record.count)
            total += record.count
        }
        ring.close()
        #expect(await consumer.value == total)
    }

    @Test("an abandoned ring accepts no more bytes")
    func abandoned() {
        let ring = FlightRing(capacity: DataSize(bytes: 1000))
        #expect(ring.append([1]))
        ring.abandon()
        #expect(!ring.append([2]))
    }

    @Test(
        "a record in steady state allocates nothing", .enabled(if: allocation_counter_is_active()))
    func allocations() {
        let ring = FlightRing()
        let recorder = FlightRecorder(header: .test, sink: ring)
        var flight = RandomFlight(seed: 8, start: FlightHeader.test.start)
        let records = (0..<2000).map { _ in flight.next() }
        for record in records[..<1000] { recorder.record(record.event, now: record.time) }
        _ = ring.drain { _ in }
        let before = allocation_counter_read().count
        for index in 1000..<2000 { recorder.record(records[index].event, now: records[index].time) }
        #expect(allocation_counter_read().count - before == 0)
        #expect(ring.drain { _ in } == .open, "all were taken")
    }
}
