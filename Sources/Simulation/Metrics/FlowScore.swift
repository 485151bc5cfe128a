/// A single figure for the quality of a flow, from 0 to 100. It must always appear with its component figures.
///
///     score = 100 · u · 100 ms / (100 ms + q) · t²
///
/// `u` is the used part of the usable capacity (at most 1), `q` the p95 queueing delay and `t` the part of the frames
/// that were complete within 200 ms. A flow that uses all capacity, never queues and has every frame in time has 100.
/// Half of the capacity left unused costs a half, and so does a queue of 100 ms, about the delay that a conversation
/// notices. A tenth of the frames late or lost costs a fifth, because the frames that depend on them suffer as well. It
/// is a product, so that no strength can make up for a failure elsewhere.
public enum FlowScore {
    /// The p95 queueing delay that halves the score, in ms.
    public static let halvingDelay = 100.0

    /// Returns the score of a flow; nil if one of its components is unknown.
    public static func score(_ values: MetricValues) -> Double? {
        guard let utilization = values[.utilization], let delay = values[.queueingDelay95],
            let lateOrLost = values[.framesLateOrLost]
        else { return nil }
        return score(utilization: utilization / 100, queueingDelay95: delay, framesLateOrLost: lateOrLost / 100)
    }

    /// Returns the score of the components; the delay is in ms.
    public static func score(utilization: Double, queueingDelay95: Double, framesLateOrLost: Double) -> Double {
        let used = min(max(utilization, 0), 1)
        let prompt = halvingDelay / (halvingDelay + max(queueingDelay95, 0))
        let inTime = 1 - min(max(framesLateOrLost, 0), 1)
        return 100 * used * prompt * inTime * inTime
    }
}
