import MediaCore
import Testing

@testable import CongestionControl

/// A report of packets of 1000 bytes sent over a time from `start` to `end` in ms, the first `lost` of them lost.
func lossReport(_ count: Int, lost: Int, from start: Double, to end: Double, sequence: Int64 = 0) -> [PacketResult] {
    (0..<count).map { index in
        let time = start + (end - start) * Double(index) / Double(max(count - 1, 1))
        let sent = SentPacket(transportSequence: sequence + Int64(index), size: bytes(1000), sendTime: at(time))
        return PacketResult(sent: sent, receiveTime: index < lost ? nil : at(time + 50))
    }
}

@Suite("The model of a path's losses")
struct LossModelTests {
    @Test("everything beyond the bandwidth is lost, and the inherent part of the rest")
    func lossProbability() {
        let model = LossModel(inherentLoss: 0.02, bandwidth: 1_000_000)
        #expect(model.lossProbability(at: 500_000) == 0.02)
        // Half of 2 Mbit/s exceeds it: 0.02 + 0.98 / 2.
        #expect(abs(model.lossProbability(at: 2_000_000) - 0.51) < 1e-12)
        #expect(LossModel(inherentLoss: 0, bandwidth: 1e6).lossProbability(at: 1) == 1e-6)
        #expect(LossModel(inherentLoss: 1, bandwidth: 1e6).lossProbability(at: 1) == 1 - 1e-6)
    }

    @Test("the path may be blamed for 5 % and 100 kbit/s of the bandwidth")
    func inherentLossBound() {
        #expect(abs(LossModel(inherentLoss: 0, bandwidth: 1_000_000).inherentLossBound - 0.15) < 1e-12)
        #expect(LossModel(inherentLoss: 0, bandwidth: 50_000).inherentLossBound == 1)
        #expect(LossModel(inherentLoss: 0, bandwidth: 0).inherentLossBound == 1)
        var model = LossModel(inherentLoss: 0.5, bandwidth: 1_000_000)
        model.boundInherentLoss()
        #expect(abs(model.inherentLoss - 0.15) < 1e-12)
        model.inherentLoss = 0
        model.boundInherentLoss()
        #expect(model.inherentLoss == 0.001)
    }

    /// 100 kB in 250 ms, 3.2 Mbit/s, of which 10 kB were lost.
    private func observations() -> LossObservations {
        var observations = LossObservations()
        _ = observations.add(lossReport(100, lost: 10, from: 0, to: 250))
        return observations
    }

    @Test("a step of Newton's method moves the inherent loss towards the observed loss")
    func newtonStep() {
        var model = LossModel(inherentLoss: 0.05, bandwidth: 4_000_000)
        model.improveInherentLoss(observations())
        // First derivative 10 / 0.05 - 90 / 0.95 = 105.26, second -(10 / 0.0025 + 90 / 0.9025) = -4099.7;
        // 0.05 + 0.75 · 105.26 / 4099.7.
        #expect(abs(model.inherentLoss - 0.069257) < 1e-6)
    }

    @Test("the objective is the likelihood's logarithm with a preference for bandwidth")
    func objective() {
        let model = LossModel(inherentLoss: 0.05, bandwidth: 4_000_000)
        // 10 ln 0.05 + 90 ln 0.95 = -34.5737; the preference, with 10 % lost on average:
        // 0.1 / 0.102 · (0.0002 · 4000 + 0.02 ln 4001) = 0.94695 for each of 100 kB.
        #expect(abs(model.objective(observations()) - (-34.5737 + 94.695)) < 1e-2)
    }

    @Test("with over 20 % lost a lower bandwidth is preferred")
    func preference() {
        var observations = LossObservations()
        _ = observations.add(lossReport(100, lost: 40, from: 0, to: 250))
        let low = LossModel(inherentLoss: 0.05, bandwidth: 4_000_000).objective(observations)
        let high = LossModel(inherentLoss: 0.05, bandwidth: 8_000_000).objective(observations)
        #expect(low > high)
    }
}
