internal import CongestionControl
import LinkEmulation
public import MediaCore

/// The response of a flow to a change of the link's rate.
public struct StepResponse: Hashable, Sendable {
    /// The time of the change since the simulation began.
    public var time: Duration
    public var from: BitRate
    public var to: BitRate
    /// After a drop, the time until the target, averaged over a second, was below the new rate and then stayed below
    /// 110 % of it until the next change. Nil after a rise, or if that never happened.
    public var targetSettling: Duration?
    /// After a drop, the time until the queueing delay was below 100 ms and stayed so for two seconds.
    public var queueSettling: Duration?
    /// After a rise, the time until the target reached 80 % of the new rate.
    public var rise: Duration?
    /// The largest queueing delay until the next change.
    public var maximumQueueDelay: Duration

    /// Returns the responses to all changes of a scripted rate, except changes after the last sample.
    static func all(
        to steps: [LinkRate.Step], duration: Duration, samples: [MediaFlowSample]
    ) -> [StepResponse] {
        var responses: [StepResponse] = []
        for (index, step) in steps.enumerated().dropFirst() {
            let end = index + 1 < steps.count ? steps[index + 1].time : duration
            let span = samples.filter { $0.time > step.time && $0.time <= end }
            guard let largest = span.map(\.queueDelay).max() else { continue }
            var response = StepResponse(
                time: step.time, from: steps[index - 1].rate, to: step.rate, maximumQueueDelay: largest)
            if step.rate < response.from {
                response.targetSettling = targetSettling(span, after: step)
                response.queueSettling = queueSettling(span, after: step)
            } else {
                response.rise =
                    span.first { $0.controller.targetBitRate >= step.rate * 0.8 }.map { $0.time - step.time }
            }
            responses.append(response)
        }
        return responses
    }

    private static func targetSettling(_ span: [MediaFlowSample], after step: LinkRate.Step) -> Duration? {
        var settled: Duration?
        for (index, sample) in span.enumerated() {
            let second = span[...index].reversed().prefix { sample.time - $0.time < .seconds(1) }
            let mean =
                second.reduce(0) { $0 + Double($1.controller.targetBitRate.bitsPerSecond) }
                / Double(second.count)
            let ratio = mean / Double(max(step.rate.bitsPerSecond, 1))
            if ratio > 1.1 { settled = nil } else if ratio <= 1, settled == nil { settled = sample.time - step.time }
        }
        return settled
    }

    private static func queueSettling(_ span: [MediaFlowSample], after step: LinkRate.Step) -> Duration? {
        let limit = Duration.milliseconds(100)
        for (index, sample) in span.enumerated() where sample.queueDelay < limit {
            let following = span[index...].prefix { $0.time - sample.time <= .seconds(2) }
            if following.allSatisfy({ $0.queueDelay < limit }) {
                return sample.time - step.time
            }
        }
        return nil
    }
}
