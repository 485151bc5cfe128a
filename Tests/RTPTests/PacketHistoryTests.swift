import MediaCore
import NIOCore
import Testing

@testable import RTP

struct PacketHistoryTests {
    private var history = PacketHistory<ByteBuffer>(maximumPacketCount: 100, maximumAge: .seconds(1))

    private mutating func store(_ sequenceNumbers: some Sequence<UInt16>, at time: Int64) {
        for number in sequenceNumbers {
            history.store(ByteBuffer(integer: number), sequenceNumber: number, now: .milliseconds(time))
        }
    }

    private mutating func packet(_ sequenceNumber: UInt16, at time: Int64, roundTripTime: Int64 = 50) -> ByteBuffer? {
        history.packet(sequenceNumber, roundTripTime: .milliseconds(roundTripTime), now: .milliseconds(time))
    }

    @Test mutating func `a packet comes back as it was stored`() {
        store([7, 8], at: 0)
        #expect(packet(7, at: 1) == ByteBuffer(integer: UInt16(7)))
        #expect(packet(9, at: 1) == nil)
    }

    @Test mutating func `a packet is sent again once per round trip`() {
        store([7], at: 0)
        #expect(packet(7, at: 10) != nil)
        #expect(packet(7, at: 59) == nil)
        #expect(packet(7, at: 60) != nil)
        #expect(packet(7, at: 61) == nil)
    }

    @Test mutating func `a round trip of nothing does not let a receiver ask without bound`() {
        store([7], at: 0)
        #expect(packet(7, at: 1, roundTripTime: 0) != nil)
        #expect(packet(7, at: 10, roundTripTime: 0) == nil)
        #expect(packet(7, at: 11, roundTripTime: 0) != nil)
    }

    @Test mutating func `a packet older than the maximum age is gone`() {
        store([7], at: 0)
        store((8..<39).map { $0 }, at: 1)
        #expect(packet(7, at: 1001) != nil)
        store([39], at: 1002)
        #expect(packet(7, at: 1003, roundTripTime: 0) == nil)
        #expect(history.age(of: 7, now: .milliseconds(1003)) == nil)
    }

    @Test mutating func `the latest packets are kept for longer, as a still picture has few`() {
        store([7], at: 0)
        store([8], at: 1500)
        #expect(packet(7, at: 3000) != nil)
        #expect(history.age(of: 8, now: .milliseconds(3000)) == .milliseconds(1500))
        #expect(packet(7, at: 3001, roundTripTime: 0) == nil)
    }

    @Test mutating func `only the last packets are kept, across 65535`() {
        store((65500...65535).map { $0 } + (0..<100).map { $0 }, at: 0)
        #expect(packet(65535, at: 1) == nil)
        #expect(packet(0, at: 1) != nil)
        #expect(packet(99, at: 1) != nil)
    }

    @Test mutating func `a packet that leaves late takes nothing from those after it`() {
        store([65533, 65535, 0, 65534], at: 0)
        for number in [65533, 65534, 65535, 0] as [UInt16] { #expect(packet(number, at: 1) != nil) }
    }

    @Test mutating func `a number that comes around again is not the old packet`() {
        store([7], at: 0)
        store([7 + 128], at: 1)
        #expect(packet(7, at: 2) == nil)
    }

    @Test mutating func `old packets are let go as new ones come, even at a low rate`() {
        store(0..<100, at: 0)
        #expect(history.count == 100)
        for index in UInt16(0)..<64 { store([100 + index], at: 4000 + Int64(index)) }
        #expect(history.count == 64)
    }

    @Test mutating func `a packet stored twice is kept once`() {
        store([7, 7], at: 0)
        #expect(history.count == 1)
    }
}
