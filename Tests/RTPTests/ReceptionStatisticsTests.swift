import MediaCore
import Testing

@testable import RTP

struct ReceptionStatisticsTests {
    private var statistics = ReceptionStatistics(clockRate: 90_000)

    /// Receives packets whose spacing at the sender is the same as here: 3000 units are 33⅓ ms.
    private mutating func receive(_ sequenceNumbers: some Sequence<UInt16>) {
        for number in sequenceNumbers {
            statistics.received(
                sequenceNumber: number, timestamp: UInt32(number) * 90, size: DataSize(bytes: 1000),
                now: .milliseconds(Int64(number)))
        }
    }

    private mutating func report(at time: Int64 = 0) -> ReportBlock {
        statistics.makeReportBlock(ssrc: 42, now: .milliseconds(time))
    }

    @Test mutating func `nothing received is reported as nothing`() {
        #expect(report() == ReportBlock(ssrc: 42))
    }

    @Test mutating func `loss is counted over the interval and over the whole`() {
        receive((0..<100).filter { $0 % 4 != 1 })
        var block = report()
        #expect(block.fractionLost == 64)
        #expect(block.cumulativeLost == 25)
        #expect(block.highestSequence == 99)
        receive(100..<200)
        block = report()
        #expect(block.fractionLost == 0)
        #expect(block.cumulativeLost == 25)
        #expect(statistics.packetsReceived == 175)
        #expect(statistics.dataReceived == DataSize(bytes: 175_000))
    }

    @Test mutating func `duplicates make the loss negative, its fraction zero`() {
        receive([0, 1, 1, 1, 2])
        let block = report()
        #expect(block.cumulativeLost == -2)
        #expect(block.fractionLost == 0)
    }

    @Test mutating func `the highest sequence number counts its cycles`() {
        receive([65534, 65535, 0, 1])
        #expect(report().highestSequence == 0x1_0001)
        #expect(report().cumulativeLost == 0)
    }

    @Test mutating func `reordered packets are no loss`() {
        receive([10, 12, 11, 13])
        #expect(report().cumulativeLost == 0)
        #expect(report().highestSequence == 13)
    }

    @Test mutating func `one stray packet does not move the count`() {
        receive([10, 11, 30_000, 12])
        #expect(report().highestSequence == 12)
        #expect(statistics.restartCount == 0)
    }

    @Test mutating func `two packets in a row elsewhere are a sender that started anew`() {
        receive([10, 11, 13, 30_000, 30_001, 30_002])
        #expect(statistics.restartCount == 1)
        let block = report()
        #expect(block.highestSequence == 30_002)
        #expect(block.cumulativeLost == 0)
    }

    @Test mutating func `packets spaced as they were sent have no jitter`() {
        receive(0..<50)
        #expect(statistics.jitter == .zero)
    }

    @Test mutating func `jitter follows RFC 3550 A_8 by a sixteenth of each deviation`() {
        // Sent each 20 ms, every second one 10 ms late: each deviation is 900 units.
        var expected = 0.0
        for index in 0..<200 {
            let late = index % 2 == 0 ? 0 : 10
            statistics.received(
                sequenceNumber: UInt16(index), timestamp: UInt32(index) * 1800, size: .zero,
                now: .milliseconds(Int64(index * 20 + late)))
            if index > 0 { expected += (900 - expected) / 16 }
        }
        let block = report()
        #expect(abs(Double(block.jitter) - expected) <= 1)
        #expect(abs(statistics.jitter.milliseconds - 10) < 0.1)
    }

    @Test mutating func `a timestamp that jumps is no jitter`() {
        receive(0..<10)
        statistics.received(sequenceNumber: 10, timestamp: 0x8000_0000, size: .zero, now: .milliseconds(10))
        #expect(statistics.jitter < .milliseconds(1))
    }

    @Test mutating func `the last sender report is echoed with its age`() {
        let sent = SenderReport(
            ssrc: 42, ntpTime: NTPTime(rawValue: 0xB44D_B705_2000_0000), rtpTimestamp: 90_000, packetCount: 0,
            octetCount: 0)
        statistics.senderReportReceived(sent, now: .milliseconds(1000))
        let block = report(at: 6250)
        #expect(block.lastSenderReport == 0xB705_2000)
        #expect(block.delaySinceLastSenderReport == 0x0005_4000)
    }

    @Test mutating func `a timestamp has its wall-clock time by the last sender report`() {
        #expect(statistics.ntpTime(atTimestamp: 0) == nil)
        let sent = SenderReport(
            ssrc: 42, ntpTime: NTPTime(rawValue: 100 << 32), rtpTimestamp: 45_000, packetCount: 0, octetCount: 0)
        statistics.senderReportReceived(sent, now: .zero)
        #expect(statistics.ntpTime(atTimestamp: 90_000)?.rawValue == (100 << 32) + (1 << 31))
        #expect(statistics.ntpTime(atTimestamp: 0)?.rawValue == (100 << 32) - (1 << 31))
    }

    @Test mutating func `a sender without a wall clock, which reports the time zero, has no times`() {
        let sent = SenderReport(
            ssrc: 42, ntpTime: NTPTime(rawValue: 0), rtpTimestamp: 45_000, packetCount: 0, octetCount: 0)
        statistics.senderReportReceived(sent, now: .zero)
        #expect(statistics.ntpTime(atTimestamp: 45_000) == nil)
        #expect(statistics.ntpTime(atTimestamp: 90_000) == nil)
    }

    @Test(arguments: [Int32.min, 0, 1, .max])
    func `any clock rate and any input are borne`(clockRate: Int32) {
        var generator = SeededGenerator(seed: 7)
        var statistics = ReceptionStatistics(clockRate: clockRate)
        for _ in 0..<2000 {
            let now = MonotonicInstant(nanoseconds: .random(in: .min...Int64.max, using: &generator))
            statistics.received(
                sequenceNumber: generator.integer(), timestamp: generator.integer(), size: DataSize(bytes: 100),
                now: now)
            statistics.senderReportReceived(
                SenderReport(
                    ssrc: 1, ntpTime: NTPTime(rawValue: generator.integer()), rtpTimestamp: generator.integer(),
                    packetCount: 0, octetCount: 0), now: now)
            _ = statistics.ntpTime(atTimestamp: generator.integer())
            #expect(statistics.makeReportBlock(ssrc: 1, now: now).ssrc == 1)
            #expect(statistics.jitter >= .zero)
        }
    }
}
