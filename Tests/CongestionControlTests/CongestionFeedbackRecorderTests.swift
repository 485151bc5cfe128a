import MediaCore
import NIOCore
import RTP
import Testing

@testable import CongestionControl

@Suite("Reports as of RFC 8888")
struct CongestionFeedbackRecorderTests {
    private var recorder = CongestionFeedbackRecorder(senderSSRC: 1)

    private mutating func receive(_ sequence: UInt16, of ssrc: UInt32 = 7, at time: Double) {
        recorder.received(ssrc: ssrc, sequence: sequence, ecn: .notCapable, isLastOfFrame: false, now: at(time))
    }

    private mutating func report(at time: Double) -> [CongestionControlFeedback.Stream] {
        recorder.makeFeedback(now: at(time)).flatMap(\.streams)
    }

    @Test("a source whose numbers begin again below is reported on after a second", arguments: [20_000, 39_000])
    mutating func restart(first: UInt16) {
        for index in 0..<100 as Range<UInt16> {
            receive(40_000 + index, at: Double(index) * 10)
            _ = report(at: Double(index) * 10 + 5)
        }
        // Packets that come late are no restart.
        for index in 0..<15 as Range<UInt16> { receive(first + index, at: 1000 + 10 * Double(index)) }
        receive(40_100, at: 1150)
        #expect(report(at: 1155).map(\.beginSequence) == [40_099])
        var reported: [UInt16] = []
        for index in 0..<150 as Range<UInt16> {
            receive(first + index, at: 1160 + Double(index) * 10)
            reported += report(at: 1165 + Double(index) * 10).map(\.beginSequence)
        }
        #expect(reported.first == first + 99 && reported.last == first + 148)
    }

    @Test("a new source takes the place of a silent one, and of no other")
    mutating func manySources() {
        for ssrc in 1...8 as ClosedRange<UInt32> { receive(1, of: ssrc, at: 0) }
        for index in 2...200 as ClosedRange<UInt16> {
            for ssrc in 1...7 as ClosedRange<UInt32> { receive(index, of: ssrc, at: Double(index) * 10) }
            receive(index, of: 9, at: Double(index) * 10)
            receive(index, of: 10, at: Double(index) * 10)
        }
        let streams = report(at: 2000)
        #expect(Set(streams.map(\.ssrc)) == [1, 2, 3, 4, 5, 6, 7, 9])
        #expect(streams.first { $0.ssrc == 9 }?.beginSequence == 100)
    }

    @Test("numbers that jump again and again are not remembered as missing, and those that a path loses are")
    mutating func jumps() {
        for index in 0..<100 { receive(UInt16(truncatingIfNeeded: index * 4000), at: 0) }
        #expect(report(at: 0).map(\.packets.count) == [1])
        receive(UInt16(truncatingIfNeeded: 99 * 4000 + 300), at: 100)
        #expect(report(at: 100).map(\.packets.count) == [301])
    }

    @Test("reports of an outage fit one datagram each, and tell of each number once")
    mutating func outage() {
        for ssrc in 1...8 as ClosedRange<UInt32> {
            receive(65_000, of: ssrc, at: 0)
            receive(65_000 &+ UInt16(ssrc) * 300, of: ssrc, at: 100)
        }
        let reports = recorder.makeFeedback(now: at(101))
        #expect(reports.count == (8 + 300 * 36 + 511) / 512)
        var reported: [UInt32: [UInt16]] = [:]
        for report in reports {
            #expect(RTCPPacket.encode([.congestionControlFeedback(report)]).readableBytes <= 1150)
            for stream in report.streams {
                reported[stream.ssrc, default: []] += stream.packets.indices.map {
                    stream.beginSequence &+ UInt16($0)
                }
            }
        }
        for ssrc in 1...8 as ClosedRange<UInt32> {
            #expect(reported[ssrc] == (0...UInt16(ssrc) * 300).map { 65_000 &+ $0 })
        }
    }
}
