import MediaCore
import RTP
import Testing

@testable import CongestionControl
@testable import ResearchControllers

@Suite("NADA's observation window (RFC 8698, section 5.1)")
struct ObservationWindowTests {
    private var window = ObservationWindow(length: .milliseconds(500), filterLength: 15)

    /// A packet of 1250 bytes each 10 ms, with this delay in ms, reported 30 ms after its arrival.
    private mutating func add(_ sequence: Int64, delay: Double, ecn: ECNCodepoint = .notCapable) {
        let sent = SentPacket(transportSequence: sequence, size: bytes(1250), sendTime: at(Double(sequence) * 10))
        let received = at(Double(sequence) * 10 + delay)
        window.add(PacketResult(sent: sent, receiveTime: received, ecn: ecn), reportedAt: received + .milliseconds(30))
    }

    @Test("the queueing delay is the smallest of 15 packets, above the smallest of all")
    mutating func delay() {
        for index in 0..<5 { add(Int64(index), delay: 20) }
        for index in 5..<19 { add(Int64(index), delay: index == 10 ? 35 : 60) }
        #expect(window.queueingDelay == .zero)
        add(19, delay: 60)
        #expect(window.queueingDelay == .milliseconds(15))
        #expect(window.roundTripTime == .milliseconds(65))
        #expect(window.hasQueue(above: .milliseconds(39)))
        #expect(!window.hasQueue(above: .milliseconds(40)))
    }

    @Test("the rate is the data that arrived after the first packet, divided by the time since")
    mutating func rate() {
        for index in 0..<4 { add(Int64(index), delay: 20) }
        #expect(window.receivingRate == nil)
        for index in 4..<100 { add(Int64(index), delay: 20) }
        #expect(window.receivingRate == .megabits(1))
    }

    @Test("missing packets between the first and the last are lost, and old ones forgotten")
    mutating func losses() throws {
        for index in 0..<10 where index != 4 && index != 5 { add(Int64(index), delay: 20) }
        let losses = try #require(window.losses)
        #expect(losses.count == 2)
        #expect(losses.ratio == 0.2)
        for index in 10..<60 { add(Int64(index), delay: 20) }
        #expect(try #require(window.losses).count == 0)
        #expect(window.lossIntervals.current == 54)
    }

    @Test("a packet that comes late is not lost")
    mutating func late() throws {
        for index in 0..<10 where index != 4 { add(Int64(index), delay: 20) }
        add(4, delay: 80)
        #expect(try #require(window.losses).count == 0)
        // Nor counted twice.
        add(4, delay: 80)
        #expect(try #require(window.losses).ratio == 0)
    }

    @Test("marks are counted as long as their packets are looked at")
    mutating func marks() {
        for index in 0..<10 { add(Int64(index), delay: 20, ecn: index < 2 ? .congestionExperienced : .capable1) }
        #expect(window.markingRatio == 0.2)
        for index in 10..<60 { add(Int64(index), delay: 20, ecn: .capable1) }
        #expect(window.markingRatio == 0)
    }

    @Test("after half a second without arrivals the state is reset")
    mutating func gap() {
        for index in 0..<10 { add(Int64(index), delay: 20) }
        add(61, delay: 70)
        #expect(window.queueingDelay == .zero)
        #expect(window.losses == nil)
        #expect(window.lossIntervals.mean == nil)
    }
}
