import MediaCore
import RTP
import Testing

/// A policy that is told of fifty packets a second.
private struct Scene {
    var policy = ProtectionPolicy()
    var now = MonotonicInstant.milliseconds(1000)
    var roundTripTime: Duration
    var canRetransmit = true
    var isCongested = false
    var changes = 0
    private var random = SeededGenerator(seed: 3)

    init(roundTripTime: Duration) { self.roundTripTime = roundTripTime }

    /// Runs for so long; `burst` packets are lost at a time.
    mutating func run(for duration: Duration, loss: Double, burst: Int = 1) {
        let end = now + duration
        var rest = 0
        while now < end {
            now += .milliseconds(20)
            if rest == 0, Double.random(in: 0..<1, using: &random) < loss / Double(burst) { rest = burst }
            policy.congestionChanged(isCongested: isCongested, now: now)
            policy.packet(isLost: rest > 0, now: now)
            rest = max(rest - 1, 0)
            policy.measured(roundTripTime: roundTripTime)
            if policy.update(canRetransmit: canRetransmit, now: now) { changes += 1 }
        }
    }
}

@Suite struct ProtectionPolicyTests {
    @Test("retransmission alone repairs while the round trip is short")
    func shortRoundTrip() {
        var scene = Scene(roundTripTime: .milliseconds(40))
        scene.run(for: .seconds(20), loss: 0.1)
        #expect(scene.changes == 0)
        #expect(scene.policy.protection == .none)
    }

    @Test("nothing is protected without losses, however long the round trip")
    func noLoss() {
        var scene = Scene(roundTripTime: .milliseconds(400))
        scene.run(for: .seconds(20), loss: 0)
        #expect(scene.changes == 0)
    }

    @Test("a long round trip and loss are met within three seconds, the more the more gets lost")
    func longRoundTrip() {
        var rates: [Double] = []
        for loss in [0.02, 0.05, 0.1] {
            var scene = Scene(roundTripTime: .milliseconds(300))
            scene.run(for: .seconds(3), loss: loss)
            #expect(scene.policy.protection.isActive, "at \(loss)")
            scene.run(for: .seconds(7), loss: loss)
            rates.append(scene.policy.protection.rate)
        }
        #expect(rates == rates.sorted())
        #expect((0.15...0.3).contains(rates[0]), "\(rates)")
        #expect(rates[2] == 0.5)
    }

    @Test("a receiver without NACK is protected whatever the round trip")
    func noRetransmission() {
        var scene = Scene(roundTripTime: .milliseconds(20))
        scene.canRetransmit = false
        scene.run(for: .seconds(5), loss: 0.05)
        #expect(scene.policy.protection.isActive)
    }

    @Test("losses in a row are given as many repair packets and more, interleaved")
    func bursts() {
        var scene = Scene(roundTripTime: .milliseconds(300))
        scene.run(for: .seconds(10), loss: 0.04, burst: 4)
        #expect(scene.policy.protection.burst >= 5, "\(scene.policy.protection)")
        #expect(scene.policy.protection.pattern == .interleaved)

        var random = Scene(roundTripTime: .milliseconds(300))
        random.run(for: .seconds(10), loss: 0.05)
        #expect(random.policy.protection.pattern == .twofold)
    }

    @Test("protection ends some seconds after the loss does, and is not lifted between two losses")
    func decay() {
        var scene = Scene(roundTripTime: .milliseconds(300))
        scene.run(for: .seconds(10), loss: 0.05)
        let rate = scene.policy.protection.rate
        scene.run(for: .seconds(2), loss: 0)
        #expect(scene.policy.protection.isActive)
        scene.run(for: .seconds(2), loss: 0)
        #expect(scene.policy.protection.rate < rate)
        scene.run(for: .seconds(5), loss: 0)
        #expect(scene.policy.protection == .none)
    }

    @Test("a steady loss does not make the protection flap")
    func steady() {
        var scene = Scene(roundTripTime: .milliseconds(300))
        scene.run(for: .seconds(10), loss: 0.04)
        scene.changes = 0
        scene.run(for: .seconds(60), loss: 0.04)
        #expect(scene.policy.protection.isActive)
        #expect(scene.changes <= 25, "\(scene.changes) changes in a minute")
    }

    @Test("a round trip at the bound does not make the protection flap")
    func hysteresis() {
        var scene = Scene(roundTripTime: .milliseconds(200))
        scene.run(for: .seconds(10), loss: 0.05)
        scene.roundTripTime = .milliseconds(115)
        scene.run(for: .seconds(10), loss: 0.05)
        #expect(scene.policy.protection.isActive)
        scene.roundTripTime = .milliseconds(60)
        scene.run(for: .seconds(5), loss: 0.05)
        #expect(scene.policy.protection == .none)
    }

    @Test("losses with a full queue do not begin protection, and a queue that stays full ends it at once")
    func congestion() {
        var scene = Scene(roundTripTime: .milliseconds(300))
        scene.isCongested = true
        scene.run(for: .seconds(10), loss: 0.1)
        #expect(scene.changes == 0)

        scene = Scene(roundTripTime: .milliseconds(300))
        scene.run(for: .seconds(10), loss: 0.1)
        scene.isCongested = true
        scene.run(for: .milliseconds(300), loss: 0.1)
        #expect(scene.policy.protection.isActive, "a short queue is not a full one")
        scene.run(for: .milliseconds(300), loss: 0.1)
        #expect(scene.policy.protection == .none)
        scene.isCongested = false
        scene.run(for: .seconds(3), loss: 0.1)
        #expect(scene.policy.protection.isActive)
    }

    @Test("reports replace feedback, and late packets do not count as lost")
    func reports() {
        var policy = ProtectionPolicy()
        var now = MonotonicInstant.milliseconds(1000)
        policy.measured(roundTripTime: .milliseconds(300))
        for _ in 0..<4 {
            now += .seconds(1)
            policy.reported(lost: 5, of: 100, now: now)
        }
        let isProtected = policy.update(canRetransmit: true, now: now)
        #expect(isProtected)
        #expect(abs(policy.loss.fraction - 0.05) < 0.001)

        policy = ProtectionPolicy()
        policy.measured(roundTripTime: .milliseconds(300))
        for index in 0..<100 { policy.packet(isLost: index % 10 == 0, now: now) }
        for _ in 0..<10 { policy.packetFound(now: now) }
        let isProtectedNow = policy.update(canRetransmit: true, now: now)
        #expect(!isProtectedNow)
    }
}
