import MediaCore
import Testing

@testable import CongestionControl

@Suite("The meaning of losses")
struct LossClassifierTests {
    private let parameters = ConfrelayParameters()
    private var losses = LossClassifier(SharedParameters(ConfrelayParameters()))

    /// Seconds of a hundred packets each; `fate` tells of each packet whether it is lost, and how long it waits.
    private mutating func run(
        seconds: Range<Int> = 0..<10, packetSize: Int = 1000, _ fate: (Int) -> (isLost: Bool, wait: Double)
    ) {
        for second in seconds {
            for index in 0..<100 {
                let now = at(Double(second) * 1000 + Double(index) * 10)
                let (isLost, wait) = fate(index)
                if isLost {
                    losses.lost(Self.packet(packetSize, sent: now))
                } else {
                    losses.received(Self.packet(packetSize, sent: now), wait: wait)
                }
                losses.update(now: now)
            }
        }
    }

    private static func packet(_ size: Int = 1000, sent: MonotonicInstant = at(0)) -> SentPacket {
        SentPacket(transportSequence: 0, size: DataSize(bytes: size), sendTime: sent)
    }

    @Test("random loss changes nothing")
    mutating func random() {
        run { ($0 % 20 == 7, 0.005) }
        #expect(abs(losses.fractionLost - 0.05) < 0.02)
        #expect(losses.bound == nil)
        #expect(losses.use == 1)
    }

    @Test("a repaired loss remains a loss, and a packet that others overtook is not one", arguments: [true, false])
    mutating func found(isRepair: Bool) {
        losses.update(now: at(0))
        for _ in 0..<90 { losses.received(Self.packet(), wait: 0) }
        for _ in 0..<10 {
            losses.lost(Self.packet())
            losses.found(Self.packet(), isRepair: isRepair)
        }
        losses.update(now: at(10_000))
        #expect(losses.fractionLost == (isRepair ? 0.1 : 0))
    }

    @Test("losses where packets waited longer are an overflow, and less is used")
    mutating func overflow() {
        run { index in
            let isFull = index % 20 >= 15
            return (isFull && index % 2 == 0, isFull ? 0.02 : 0.005)
        }
        #expect(losses.use < 0.9)
        #expect(losses.use >= parameters.overflowUse)
    }

    @Test("much loss without delay limits the rate to the arriving rate")
    mutating func policer() throws {
        run(seconds: 0..<3) { ($0 % 2 == 0, 0) }
        let bound = try #require(losses.bound)
        #expect(abs(bound / 50_000 - 1) < 0.1)
    }

    @Test("a bound is kept while more than it is sent, which does not tell whether it helps")
    mutating func notKept() throws {
        run { ($0 % 2 == 0, 0) }
        let bound = try #require(losses.bound)
        #expect(abs(bound / 50_000 - 1) < 0.1)
    }

    @Test("losses of packets that were sent before a bound do not tell whether it helps")
    mutating func sentBefore() throws {
        run(seconds: 0..<3) { ($0 % 2 == 0, 0) }
        let bound = try #require(losses.bound)
        for _ in 0..<100 { losses.lost(Self.packet(500, sent: at(2000))) }
        run(seconds: 3..<5, packetSize: 500) { _ in (false, 0) }
        #expect(losses.bound.map { $0 >= bound } == true)
        #expect(losses.fractionLost == 0)
    }

    @Test("a bound that helps grows, and falls again to what arrives when losses return")
    mutating func helpful() throws {
        run(seconds: 0..<3) { ($0 % 2 == 0, 0) }
        let first = try #require(losses.bound)
        run(seconds: 3..<8, packetSize: 500) { _ in (false, 0) }
        let grown = try #require(losses.bound)
        #expect(grown > first * 1.05)
        run(seconds: 8..<10, packetSize: 550) { ($0 % 5 == 0, 0) }
        #expect(losses.bound.map { $0 < grown * 0.9 } == true)
    }

    @Test("a bound that has grown by a quarter without losses grows faster")
    mutating func recovery() throws {
        run(seconds: 0..<3) { ($0 % 2 == 0, 0) }
        run(seconds: 3..<18, packetSize: 800) { _ in (false, 0) }
        #expect(losses.bound.map { $0 > 90_000 } == true)
    }

    @Test("a bound that is not used ends only when it has doubled")
    mutating func unused() {
        run(seconds: 0..<3) { ($0 % 2 == 0, 0) }
        run(seconds: 3..<10, packetSize: 100) { _ in (false, 0) }
        #expect(losses.bound != nil)
        run(seconds: 10..<40, packetSize: 100) { _ in (false, 0) }
        #expect(losses.bound == nil)
    }

    @Test("much loss far below a bound begins a lower one")
    mutating func lower() {
        run(seconds: 0..<3) { ($0 % 2 == 0, 0) }
        run(seconds: 3..<8, packetSize: 200) { ($0 % 2 == 0, 0) }
        #expect(losses.bound.map { abs($0 / 10_000 - 1) < 0.1 } == true)
    }

    @Test(
        "a bound far below what arrives ends, such as one from two seconds in which nothing arrived",
        arguments: [0, 0.03])
    mutating func outage(fractionLost: Double) {
        run(seconds: 0..<3) { _ in (true, 0) }
        #expect(losses.bound.map { $0 < 10_000 } == true)
        run(seconds: 3..<6) { (Double($0 % 100) < fractionLost * 100, 0) }
        #expect(losses.bound == nil)
    }

    @Test("much loss that does not lessen with the rate is borne")
    mutating func unavoidable() {
        run(seconds: 0..<8) { ($0 % 5 == 0, 0) }
        #expect(losses.bound == nil)
    }

    @Test("loss that is borne stays so behind seconds without any")
    mutating func unavoidableBursts() {
        run(seconds: 0..<8) { ($0 % 5 == 0, 0) }
        run(seconds: 8..<10) { _ in (false, 0) }
        for second in 10..<16 {
            run(seconds: second..<second + 1) { ($0 % 5 == 0, 0) }
            #expect(losses.bound == nil)
        }
    }
}
