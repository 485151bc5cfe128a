import MediaCore
import RTP
import Testing

@testable import CongestionControl

@Suite("Answers to ECN marks")
struct CongestionMarksTests {
    private var marks = CongestionMarks(parameters: ConfrelayParameters())

    /// A round trip of 50 ms in which ten packets arrive, some of them marked, while 250 kB/s are sent.
    private mutating func round(_ number: Int, marked: Int, of codepoint: ECNCodepoint) {
        for index in 0..<10 { marks.received(index < marked ? .congestionExperienced : codepoint) }
        marks.update(
            roundTrip: 0.05, sending: 250_000, capacity: 1_000_000, now: at(Double(number) * 50))
    }

    @Test("packets without marks, or without ECN, have no bound")
    mutating func none() {
        for number in 0..<20 { round(number, marked: 0, of: .capable1) }
        #expect(marks.bound == nil)
        #expect(marks.isScalable)
        for number in 20..<40 { round(number, marked: 0, of: .notCapable) }
        #expect(marks.bound == nil)
    }

    @Test("with ECT(0) a marked round trip reduces the rate by 15 %, and each other one adds a packet")
    mutating func classic() throws {
        round(0, marked: 0, of: .capable0)
        round(1, marked: 1, of: .capable0)
        // 250 kB/s less 15 %; a packet of 1200 bytes in 50 ms is 24 kB/s, of which a mark in twenty takes its part.
        #expect(abs(try #require(marks.bound) - (212_500 + 24_000 * 0.95)) < 1)
        #expect(!marks.isScalable)
        let bound = try #require(marks.bound)
        round(2, marked: 0, of: .capable0)
        #expect(abs(try #require(marks.bound) - (bound + 24_000)) < 1)
    }

    @Test("with ECT(1) half of the average part marked is taken")
    mutating func scalable() throws {
        round(0, marked: 0, of: .capable1)
        for number in 1...200 { round(number, marked: 1, of: .capable1) }
        // Each round trip 5 % less and 0.9 packets more: 0.05 bound = 0.9 × 24 kB/s.
        #expect(abs(marks.average - 0.1) < 0.01)
        #expect(abs(try #require(marks.bound) / 432_000 - 1) < 0.1)
    }

    @Test("a bound that reaches the capacity is gone")
    mutating func recovery() {
        round(0, marked: 0, of: .capable1)
        round(1, marked: 5, of: .capable1)
        #expect(marks.bound != nil)
        for number in 2..<60 { round(number, marked: 0, of: .capable1) }
        #expect(marks.bound == nil)
    }
}
