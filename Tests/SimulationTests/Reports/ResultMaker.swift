@testable import Simulation

/// Results that are made up.
enum ResultMaker {
    static func metrics(
        utilization: Double, delay: Double, late: Double, _ others: [Metric: Double] = [:]
    ) -> MetricValues {
        var values = MetricValues()
        values[.utilization] = utilization
        values[.queueingDelay95] = delay
        values[.framesLateOrLost] = late
        for (metric, value) in others { values[metric] = value }
        values[.score] = FlowScore.score(values)
        return values
    }

    static func sample(_ time: Double, rate: Double, delay: Double = 10, capacity: Double? = 2) -> FlowSample {
        FlowSample(
            time: time, target: rate, sendRate: rate, receiveRate: rate, goodput: rate, capacity: capacity,
            queueDelay: delay, senderDelay: 0, isActive: true)
    }

    static func result(
        _ scenario: String, _ controller: String, _ metrics: MetricValues, suite: String = "suite", seed: UInt64 = 1,
        flows: Int = 1, samples: Int = 50
    ) -> ScenarioResult {
        ScenarioResult(
            scenario: scenario, suite: suite, title: "A title", reference: "RFC", expectation: "much",
            controller: controller, seed: seed, duration: 10, eventCount: 1, metrics: metrics,
            flows: (0..<flows).map { number in
                ScenarioResult.Flow(
                    name: "video \(number)", kind: "media", bottleneck: "forward", maximum: 8, metrics: metrics,
                    steps: [], queueingDelayPercentiles: (0...100).map(Double.init),
                    frameDelayPercentiles: (0...100).map { 50 + Double($0) },
                    samples: (0..<samples).map {
                        sample(Double($0 + 1) * 10 / Double(samples), rate: 1 + Double($0 % 3) / 10)
                    })
            },
            links: [])
    }
}
