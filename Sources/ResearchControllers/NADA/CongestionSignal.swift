import Glibc
import MediaCore

/// NADA's composite congestion signal: delay, losses and marks, expressed as a delay (RFC 8698, section 4.2). All
/// values are in milliseconds.
struct CongestionSignal: Sendable {
    private let parameters: NADAParameters
    /// The smoothed ratios of lost and marked packets (p_loss, p_mark).
    private(set) var lossRatio = 0.0
    private(set) var markingRatio = 0.0
    /// The signal now and at the previous update (x_curr, x_prev).
    private(set) var value = 0.0
    private(set) var previous = 0.0

    init(parameters: NADAParameters) {
        self.parameters = parameters
    }

    /// Adds the ratios of the observation window.
    mutating func add(lossRatio: Double?, markingRatio: Double?) {
        if let lossRatio { self.lossRatio += parameters.smoothing * (lossRatio - self.lossRatio) }
        if let markingRatio { self.markingRatio += parameters.smoothing * (markingRatio - self.markingRatio) }
    }

    /// Updates the signal; without a delay its value stays.
    mutating func update(queueingDelay: Duration?, lossIntervals: LossIntervals) {
        previous = value
        guard let queueingDelay else { return }
        let delay = queueingDelay.milliseconds
        let warped = delay + warpedPart(of: lossIntervals) * (warp(delay) - delay)
        let lossPenalty = parameters.lossPenalty.milliseconds * squared(lossRatio / parameters.referenceLoss)
        let markingPenalty =
            parameters.markingPenalty.milliseconds * squared(markingRatio / parameters.referenceMarking)
        value = min(warped + lossPenalty + markingPenalty, parameters.maximumCongestion.milliseconds)
    }

    /// Applies equation (1): beyond a threshold, a longer delay counts less. Otherwise the flow would starve beside
    /// flows that fill the queue until it drops packets.
    func warp(_ delay: Double) -> Double {
        let threshold = parameters.warpThreshold.milliseconds
        guard delay > threshold else { return delay }
        return threshold * exp(-parameters.warpExponent * (delay - threshold) / threshold)
    }

    /// Returns the strength of the delay's warping, from 0 (none) to 1 (full). It is full while the last loss is at
    /// most `lossExpiry` mean loss intervals ago, and falls to 0 over one more interval.
    func warpedPart(of intervals: LossIntervals) -> Double {
        guard let mean = intervals.mean, mean > 0 else { return 0 }
        let elapsed = Double(intervals.current) / mean
        return min(max(parameters.lossExpiry + 1 - elapsed, 0), 1)
    }

    private func squared(_ value: Double) -> Double { value * value }
}
