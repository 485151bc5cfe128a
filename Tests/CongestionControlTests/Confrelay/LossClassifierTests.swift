import MediaCore
import Testing

@testable import CongestionControl

@Suite("The meaning of losses")
struct LossClassifierTests {
    private let parameters = ConfrelayParameters()
    private var losses = LossClassifier(parameters: ConfrelayParameters())

    /// Ten seconds of a hundred packets each; `fate` tells of each packet whether it is lost, and how long it waits.
    private mutating func run(seconds: Range<Int> = 0..<10, _ fate: (Int) -> (isLost: Bool, wait: Double)) {
        for second in seconds {
            for index in 0..<100 {
                let (isLost, wait) = fate(index)
                if isLost { losses.lostPacket() } else { losses.received(bytes: 1000, wait: wait) }
                losses.update(now: at(Double(second) * 1000 + Double(index) * 10))
            }
        }
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
        for _ in 0..<90 { losses.received(bytes: 1000, wait: 0) }
        for _ in 0..<10 {
            losses.lostPacket()
            losses.foundPacket(bytes: 1000, isRepair: isRepair)
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

    @Test("a bound far below what arrives ends, such as one from two seconds in which nothing arrived")
    mutating func outage() {
        run(seconds: 0..<2) { _ in (true, 0) }
        run(seconds: 2..<3) { _ in (false, 0) }
        #expect(losses.bound.map { $0 < 10_000 } == true)
        run(seconds: 3..<4) { _ in (false, 0) }
        #expect(losses.bound == nil)
    }

    @Test("much loss that does not lessen with the rate is borne")
    mutating func unavoidable() {
        run(seconds: 0..<8) { ($0 % 5 == 0, 0) }
        #expect(losses.bound == nil)
    }
}
