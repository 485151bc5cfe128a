import MediaCore
import Testing

@testable import CongestionControl
@testable import ResearchControllers

@Suite("SCReAM's reference window")
struct ReferenceWindowTests {
    private static let packet = 1200.0

    private func window(_ size: Double) -> ReferenceWindow {
        ReferenceWindow(size: size, parameters: ScreamParameters(), now: at(0))
    }

    /// A round trip in which all of the window was acknowledged.
    private func conditions(
        _ window: ReferenceWindow, roundTrip: Double = 0.05, delayScale: Double = 1, largest: Double = .infinity,
        canGrow: Bool = true
    ) -> ReferenceWindow.Conditions {
        ReferenceWindow.Conditions(
            packetSize: Self.packet, roundTrip: roundTrip, delayScale: delayScale, acknowledged: window.size,
            largest: largest, canGrow: canGrow)
    }

    @Test("a loss leaves 70 %, a classic mark 90 %, and never less than two packets")
    func fixedFactors() {
        var lossy = window(20_000)
        lossy.reduceAfterLoss(packetSize: Self.packet, roundTrip: 0.05, now: at(0))
        #expect(abs(lossy.size - 14_000) < 1e-6)
        var marked = window(20_000)
        marked.reduceAfterClassicMark(packetSize: Self.packet, roundTrip: 0.05, now: at(0))
        #expect(abs(marked.size - 18_000) < 1e-6)
        var small = window(2500)
        small.reduceAfterLoss(packetSize: Self.packet, roundTrip: 0.05, now: at(0))
        #expect(small.size == 2400)
    }

    @Test(
        "delay reduces by half of the part of the target that it exceeds, over the round trip twice",
        arguments: [
            (0.025, false, 7500.0),  // 0.5/2
            (0.060, false, 9375.0),  // 0.5/2/2/2
            (0.025, true, 9375.0),  // 0.5/2/4
        ])
    func delay(roundTrip: Double, isTargetLow: Bool, expected: Double) {
        var window = window(10_000)
        window.reduceAfterDelay(
            fraction: 0.5, isTargetLow: isTargetLow, packetSize: Self.packet, roundTrip: roundTrip, now: at(0))
        #expect(abs(window.size - expected) < 1e-6)
    }

    @Test("L4S marks reduce by half of their part, by a quarter of that where congestion set in before")
    func marks() {
        func reduce(_ window: inout ReferenceWindow, at time: Double, hasShortQueue: Bool = true) {
            window.reduceAfterMarks(
                fraction: 0.2, hasShortQueue: hasShortQueue, isTargetLow: false, previousInFlight: 0,
                packetSize: Self.packet, roundTrip: 0.025, now: at(time))
        }
        var window = window(20_000)
        reduce(&window, at: 0)
        #expect(abs(window.size - 18_000) < 1e-6)
        // (18000 - 20000)/20000·8, squared: 0.64.
        reduce(&window, at: 30)
        #expect(abs(window.size - 18_000 * (1 - 0.1 * 0.64)) < 1e-6)
        // Not while the queue is long.
        let before = window.size
        reduce(&window, at: 60, hasShortQueue: false)
        #expect(abs(window.size - before * 0.9) < 1e-6)
    }

    @Test("after a long time without congestion, marks reduce the window to the data in flight")
    func restore() {
        var window = window(50_000)
        window.reduceAfterMarks(
            fraction: 0.2, hasShortQueue: false, isTargetLow: false, previousInFlight: 20_000,
            packetSize: Self.packet, roundTrip: 0.025, now: at(0))
        #expect(abs(window.size - 18_000) < 1e-6)
    }

    @Test("right after congestion it grows by a packet per round trip")
    func additive() {
        var window = window(20_000)
        window.reduceAfterLoss(packetSize: Self.packet, roundTrip: 0.05, now: at(0))
        // (14000 - 20000)/20000·8 is beyond 1: far enough from the inflection point.
        window.grow(conditions(window), now: at(0))
        #expect(abs(window.size - 15_200) < 1e-6)
    }

    @Test("near where congestion set in it grows by a quarter of that")
    func inflection() {
        var window = window(20_000)
        window.reduceAfterDelay(
            fraction: 0.1, isTargetLow: false, packetSize: Self.packet, roundTrip: 0.025, now: at(0))
        #expect(abs(window.size - 19_000) < 1e-6)
        #expect(window.inflection == 20_000)
        window.grow(conditions(window), now: at(0))
        #expect(abs(window.size - 19_300) < 1e-6)
    }

    @Test("long after congestion it grows by a part of itself, too")
    func multiplicative() {
        var fresh = window(12_000)
        // 1200·(1 + 0.05·12000/1200).
        fresh.grow(conditions(fresh), now: at(0))
        #expect(abs(fresh.size - 13_800) < 1e-6)
        var later = window(20_000)
        later.reduceAfterLoss(packetSize: Self.packet, roundTrip: 0.05, now: at(0))
        // Half of 50 round trips after: 1200·(1 + 0.5·0.05·14000/1200).
        later.grow(conditions(later), now: at(1250))
        #expect(abs(later.size - 15_550) < 1e-6)
    }

    @Test("it grows less where the delay varies or the round trip is short")
    func scales() {
        var varying = window(12_000)
        varying.grow(conditions(varying, delayScale: 0.5), now: at(0))
        #expect(abs(varying.size - (12_000 + 1800 / 1.5 * 0.5)) < 1e-6)
        var short = window(12_000)
        short.grow(conditions(short, roundTrip: 0.01), now: at(0))
        #expect(abs(short.size - (12_000 + 1800 * 0.4)) < 1e-6)
    }

    @Test("it grows neither far beyond what is in flight nor at the highest target")
    func bounds() {
        var limited = window(12_000)
        limited.grow(conditions(limited, largest: 13_000), now: at(0))
        #expect(limited.size == 12_000)
        var highest = window(12_000)
        highest.grow(conditions(highest, canGrow: false), now: at(0))
        #expect(highest.size == 12_000)
    }

    @Test("the inflection point is held while congestion lasts, for 50 round trips at most")
    func inflectionHold() {
        var window = window(20_000)
        window.reduceAfterLoss(packetSize: Self.packet, roundTrip: 0.05, now: at(0))
        window.reduceAfterLoss(packetSize: Self.packet, roundTrip: 0.05, now: at(100))
        #expect(window.inflection == 20_000)
        window.reduceAfterLoss(packetSize: Self.packet, roundTrip: 0.05, now: at(2501))
        #expect(abs(window.inflection - 9800) < 1e-6)
        // 9800 · 0.7 = 6860; growth to 5 % more than that sets a new inflection point.
        window.grow(conditions(window), now: at(2600))
        window.reduceAfterLoss(packetSize: Self.packet, roundTrip: 0.05, now: at(2700))
        #expect(window.inflection < 9000)
    }
}
