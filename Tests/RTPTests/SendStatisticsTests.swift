import MediaCore
import Testing

@testable import RTP

struct SendStatisticsTests {
    private var statistics = SendStatistics(clockRate: 90_000)
    private let wallClock = WallClock(ntpAtOrigin: NTPTime(rawValue: 1000 << 32))

    @Test func `there is no report before the first packet`() {
        #expect(statistics.makeSenderReport(ssrc: 1, wallClock: wallClock, now: .zero) == nil)
    }

    @Test mutating func `a report counts packets and carries the media clock on to now`() throws {
        statistics.packetSent(timestamp: .max, payloadSize: DataSize(bytes: 1000), captureTime: .milliseconds(90))
        statistics.packetSent(timestamp: .max, payloadSize: DataSize(bytes: 500), captureTime: .milliseconds(90))
        let report = try #require(
            statistics.makeSenderReport(ssrc: 7, wallClock: wallClock, now: .milliseconds(500)))
        #expect(report.ssrc == 7)
        #expect(report.packetCount == 2)
        #expect(report.octetCount == 1500)
        #expect(report.rtpTimestamp == 410 * 90 - 1)
        #expect(report.ntpTime.rawValue == (1000 << 32) + (1 << 31))
    }

    @Test mutating func `the round trip of RFC 3550's figure 2 is 6_125 seconds`() {
        var block = ReportBlock(ssrc: 1, fractionLost: 64, cumulativeLost: 5, jitter: 90)
        block.lastSenderReport = 0xB705_2000
        block.delaySinceLastSenderReport = 0x0005_4000
        statistics.reportReceived(block, ntpNow: NTPTime(rawValue: 0xB44D_B710_8000_0000))
        #expect(statistics.roundTripTime == .milliseconds(6125))
        #expect(statistics.fractionLost == 0.25)
        #expect(statistics.cumulativeLost == 5)
        #expect(statistics.remoteJitter == 90)
    }

    @Test mutating func `a receiver that has had no sender report tells no round trip`() {
        statistics.reportReceived(ReportBlock(ssrc: 1), ntpNow: NTPTime(rawValue: 0xB44D_B710_8000_0000))
        #expect(statistics.roundTripTime == nil)
    }

    @Test(arguments: [UInt32(0x0001_0000), 0x8000_0000, .max])
    mutating func `a delay that makes the round trip negative or absurd is not believed`(delay: UInt32) {
        var block = ReportBlock(ssrc: 1)
        block.lastSenderReport = 0x0010_0000
        block.delaySinceLastSenderReport = delay
        statistics.reportReceived(block, ntpNow: NTPTime(rawValue: 0x0010_0800 << 16))
        if delay == .max {
            // A delay of -1: a round trip one unit longer.
            #expect(statistics.roundTripTime == .nanoseconds(31_265_258))
        } else {
            #expect(statistics.roundTripTime == nil)
        }
    }

    @Test mutating func `rounding that makes the answer come before the question gives the shortest round trip`() {
        var block = ReportBlock(ssrc: 1)
        block.lastSenderReport = 0x0010_0000
        block.delaySinceLastSenderReport = 1
        statistics.reportReceived(block, ntpNow: NTPTime(rawValue: 0x0010_0000 << 16))
        #expect(statistics.roundTripTime == .nanoseconds(15258))
    }

    @Test mutating func `round trips are smoothed by an eighth`() {
        var block = ReportBlock(ssrc: 1)
        block.lastSenderReport = 1 << 16
        statistics.reportReceived(block, ntpNow: NTPTime(rawValue: 2 << 32))
        statistics.reportReceived(block, ntpNow: NTPTime(rawValue: 3 << 32))
        #expect(statistics.roundTripTime == .seconds(2))
        #expect(statistics.smoothedRoundTripTime == .milliseconds(1125))
    }

    @Test mutating func `what a sender measures is what the path takes`() throws {
        // There 30 ms, held for 2 s, back 20 ms.
        var reception = ReceptionStatistics(clockRate: 90_000)
        statistics.packetSent(timestamp: 0, payloadSize: .zero, captureTime: .zero)
        let report = try #require(
            statistics.makeSenderReport(ssrc: 7, wallClock: wallClock, now: .milliseconds(100)))
        reception.senderReportReceived(report, now: .milliseconds(130))
        let block = reception.makeReportBlock(ssrc: 7, now: .milliseconds(2130))
        statistics.reportReceived(block, ntpNow: wallClock.ntpTime(at: .milliseconds(2150)))
        let measured = try #require(statistics.roundTripTime)
        #expect(abs(measured.milliseconds - 50) < 0.1)
    }
}
