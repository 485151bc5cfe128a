import MediaCore
import Testing

@testable import CongestionControl

@Suite("Observations of loss")
struct LossObservationsTests {
    @Test("an observation is 250 ms of sending at least")
    func duration() {
        var observations = LossObservations()
        var isComplete = observations.add(lossReport(20, lost: 0, from: 0, to: 100))
        #expect(!isComplete)
        isComplete = observations.add(lossReport(20, lost: 0, from: 100, to: 249, sequence: 20))
        #expect(!isComplete)
        #expect(observations.total == 0)
        isComplete = observations.add(lossReport(10, lost: 5, from: 250, to: 400, sequence: 40))
        #expect(isComplete)
        #expect(observations.total == 1)
        var all: [LossObservations.Observation] = []
        observations.visit { observation, _ in all.append(observation) }
        // 50 kB in 400 ms.
        #expect(all == [LossObservations.Observation(size: 50, lostSize: 5, sendingRate: 1_000_000)])
        #expect(observations.lastSend == at(400))
    }

    @Test("a packet that was late is not lost, and counts once")
    func late() {
        var observations = LossObservations()
        var report = lossReport(20, lost: 4, from: 0, to: 100)
        let late = report[0].sent
        report.append(PacketResult(sent: late, receiveTime: at(300), wasReportedMissing: true))
        _ = observations.add(report)
        _ = observations.add(lossReport(20, lost: 0, from: 110, to: 260, sequence: 20))
        #expect(observations.total == 1)
        observations.visit { observation, _ in
            #expect(observation.size == 40)
            #expect(observation.lostSize == 3)
        }
    }

    /// Observations of 10 kB each with these losses in kB, each 250 ms long unless a rate is given.
    private func make(_ losses: [Int]) -> LossObservations {
        var observations = LossObservations()
        for (index, lost) in losses.enumerated() {
            let start = Double(index) * 250
            _ = observations.add(
                lossReport(10, lost: lost, from: start, to: start + 250, sequence: Int64(index) * 10))
        }
        return observations
    }

    @Test("each observation weighs nine tenths of the next, and there are fifteen")
    func weights() {
        let observations = make(Array(repeating: 0, count: 20))
        var weights: [Double] = []
        observations.visit { _, weight in weights.append(weight) }
        #expect(weights.count == 15)
        #expect(weights[0] == 1)
        #expect(abs(weights[2] - 0.81) < 1e-12)
    }

    @Test("up to three observations the average loss is that of all")
    func fewObservations() {
        // (5 · 0.9 + 0) / (10 · 0.9 + 10).
        #expect(abs(make([5, 0]).averageLoss - 4.5 / 19) < 1e-12)
    }

    @Test("from four on the worst and the best observation are left out")
    func outliers() {
        // 1, 5, 0 and 2 of 10 with the weights 0.729, 0.81, 0.9 and 1: 5 and 0 go.
        #expect(abs(make([1, 5, 0, 2]).averageLoss - (0.729 + 2) / (7.29 + 10)) < 1e-12)
        // A single bad quarter of a second is none.
        #expect(make([0, 0, 0, 8, 0]).averageLoss == 0)
    }

    @Test("the worst observation counts where twice as much as usual was sent in it")
    func suddenRate() {
        var observations = make([0, 0, 0])
        _ = observations.add(lossReport(40, lost: 20, from: 750, to: 1000, sequence: 30))
        // 20 kB of 40 and nothing of 10 · (0.729 + 0.81 + 0.9).
        #expect(abs(observations.averageLoss - 20 / (40 + 24.39)) < 1e-12)
    }
}
