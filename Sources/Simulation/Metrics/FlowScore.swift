/// One figure for how well a flow did, from 0 to 100: never instead of the figures that it is made of.
///
///     score = 100 · u · 100 ms / (100 ms + q) · t²
///
/// where `u` is the part of the usable capacity that was used (at most 1), `q` the p95 queueing delay and `t` the part
/// of the frames that were complete within 200 ms. A flow that uses all, never queues and has every frame in time has
/// 100; half of the capacity left unused costs a half, and so does a queue of 100 ms, about what a conversation
/// notices; a tenth of the frames late or lost costs a fifth, since what depends on a frame suffers as well. It is a
/// product, so that nothing can be bought with a failure elsewhere.
public enum FlowScore {
    /// The p95 queueing delay that halves the score, in ms.
    public static let halvingDelay = 100.0

    /// The score of a flow; nil where one of its parts is not known.
    public static func score(_ values: MetricValues) -> Double? {
        guard let utilization = values[.utilization], let delay = values[.queueingDelay95],
            let lateOrLost = values[.framesLateOrLost]
        else { return nil }
        return score(utilization: utilization / 100, queueingDelay95: delay, framesLateOrLost: lateOrLost / 100)
    }

    /// The score of parts; the delay is in ms.
    public static func score(utilization: Double, queueingDelay95: Double, framesLateOrLost: Double) -> Double {
        let used = min(max(utilization, 0), 1)
        let prompt = halvingDelay / (halvingDelay + max(queueingDelay95, 0))
        let inTime = 1 - min(max(framesLateOrLost, 0), 1)
        return 100 * used * prompt * inTime * inTime
    }
}
