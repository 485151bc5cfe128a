import Foundation
import MediaCore
import NetworkSimulation
import RateControl

/// Summaries, step responses and samples as JSON; rates in bit/s, times in ms or, where the name says so, seconds.
struct JSONReport: Encodable {
    struct Delay: Encodable {
        var mean: Double
        var p50: Double
        var p95: Double
        var max: Double

        init(_ distribution: DelayDistribution) {
            mean = distribution.mean.milliseconds
            p50 = distribution.median.milliseconds
            p95 = distribution.percentile95.milliseconds
            max = distribution.maximum.milliseconds
        }
    }

    struct Summary: Encodable {
        var durationSeconds: Double
        var goodput: Int64
        var sendRate: Int64
        var meanTarget: Int64
        var utilization: Double
        var queueingDelay: Delay
        var frameDelay: Delay
        var lossFraction: Double
        var lateOrLostFraction: Double
        var skippedFraction: Double
        var freezeFraction: Double
        var paddingFraction: Double
        var rampSeconds: Double?
        var frameCount: Int
        var keyFrameCount: Int

        init(_ summary: MediaFlowSummary) {
            durationSeconds = summary.duration.seconds
            goodput = summary.goodput.bitsPerSecond
            sendRate = summary.sendRate.bitsPerSecond
            meanTarget = summary.meanTarget.bitsPerSecond
            utilization = summary.utilization
            queueingDelay = Delay(summary.queueingDelay)
            frameDelay = Delay(summary.frameDelay)
            lossFraction = summary.lossFraction
            lateOrLostFraction = summary.lateOrLostFraction
            skippedFraction = summary.skippedFraction
            freezeFraction = summary.freezeFraction
            paddingFraction = summary.paddingFraction
            rampSeconds = summary.rampTime?.seconds
            frameCount = summary.frameCount
            keyFrameCount = summary.keyFrameCount
        }
    }

    struct Step: Encodable {
        var timeSeconds: Double
        var from: Int64
        var to: Int64
        var targetSettlingSeconds: Double?
        var queueSettlingSeconds: Double?
        var riseSeconds: Double?
        var maximumQueueDelay: Double

        init(_ step: StepResponse) {
            timeSeconds = step.time.seconds
            from = step.from.bitsPerSecond
            to = step.to.bitsPerSecond
            targetSettlingSeconds = step.targetSettling?.seconds
            queueSettlingSeconds = step.queueSettling?.seconds
            riseSeconds = step.rise?.seconds
            maximumQueueDelay = step.maximumQueueDelay.milliseconds
        }
    }

    struct Sample: Encodable {
        var timeSeconds: Double
        var target: Int64
        var acknowledged: Int64?
        var capacity: Int64?
        var sendRate: Int64
        var goodput: Int64
        var queueDelay: Double
        var pacerDelay: Double
        var state: String
        var limit: String

        init(_ sample: MediaFlowSample) {
            timeSeconds = sample.time.seconds
            target = sample.controller.targetBitRate.bitsPerSecond
            acknowledged = sample.controller.acknowledgedBitRate?.bitsPerSecond
            capacity = sample.capacity?.bitsPerSecond
            sendRate = sample.sendRate.bitsPerSecond
            goodput = sample.goodput.bitsPerSecond
            queueDelay = sample.queueDelay.milliseconds
            pacerDelay = sample.pacerDelay.milliseconds
            state = sample.controller.networkState.rawValue
            limit = sample.controller.limit.rawValue
        }
    }

    struct Run: Encodable {
        var link: String
        var summary: Summary
        var steps: [Step]
        var samples: [Sample]
    }

    var controller: String
    var seed: UInt64
    var runs: [Run]

    init(runs: [SimulatedRun], controller: String, seed: UInt64) {
        self.controller = controller
        self.seed = seed
        self.runs = runs.map { run in
            Run(
                link: run.name, summary: Summary(run.report.summary), steps: run.report.stepResponses.map(Step.init),
                samples: run.report.samples.map(Sample.init))
        }
    }

    func data() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(self)
    }
}
