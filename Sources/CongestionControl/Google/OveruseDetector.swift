import MediaCore

/// Compares the trend of delay with a threshold that adapts to how noisy the path is
/// (libwebrtc's `TrendlineEstimator::Detect`; draft-ietf-rmcat-gcc-02, section 5.4).
struct OveruseDetector: Sendable {
    static let gain = 4.0
    /// The largest number of groups by which the slope is scaled.
    static let maximumDeltaCount = 60
    static let overuseTime = 10.0
    static let initialThreshold = 12.5
    static let thresholdRange = 6.0...600.0
    static let growth = 0.0087
    static let shrinkage = 0.039
    /// Trends so far above the threshold are spikes: the threshold does not follow them.
    static let maximumAdaptation = 15.0
    static let maximumAdaptationInterval = 100.0

    private(set) var state = ControllerSnapshot.NetworkState.normal
    /// The threshold in ms.
    private(set) var threshold = initialThreshold
    /// The slope in the form that is compared with the threshold, in ms.
    private(set) var trend = 0.0

    private var previousSlope = 0.0
    /// The time for which the trend has been above the threshold, in ms of sending; nil while it is not.
    private var timeOverThreshold: Double?
    private var samplesOverThreshold = 0
    private var lastAdaptation: MonotonicInstant?

    /// Takes the slope after `deltaCount` groups, of which the last was sent `sendInterval` after the one before.
    mutating func update(
        slope: Double, deltaCount: Int, sendInterval: Duration, receiveTime: MonotonicInstant
    ) {
        guard deltaCount >= 2 else {
            state = .normal
            return
        }
        trend = Double(min(deltaCount, Self.maximumDeltaCount)) * slope * Self.gain
        if trend > threshold {
            let interval = sendInterval.milliseconds
            // The delay may have begun to grow anywhere within the first interval: half of it on average.
            let time = timeOverThreshold.map { $0 + interval } ?? interval / 2
            timeOverThreshold = time
            samplesOverThreshold += 1
            if time > Self.overuseTime, samplesOverThreshold > 1, slope >= previousSlope {
                timeOverThreshold = 0
                samplesOverThreshold = 0
                state = .overusing
            }
        } else {
            timeOverThreshold = nil
            samplesOverThreshold = 0
            state = trend < -threshold ? .underusing : .normal
        }
        previousSlope = slope
        adaptThreshold(receiveTime: receiveTime)
    }

    /// Moves the threshold towards the trend: a flow that competes with one that fills the queue must not starve, and a
    /// quiet path deserves a fine ear.
    private mutating func adaptThreshold(receiveTime: MonotonicInstant) {
        let last = lastAdaptation ?? receiveTime
        lastAdaptation = receiveTime
        let magnitude = trend.magnitude
        guard magnitude <= threshold + Self.maximumAdaptation else { return }
        let factor = magnitude < threshold ? Self.shrinkage : Self.growth
        let interval = min(max((receiveTime - last).milliseconds, 0), Self.maximumAdaptationInterval)
        threshold += factor * (magnitude - threshold) * interval
        threshold = min(max(threshold, Self.thresholdRange.lowerBound), Self.thresholdRange.upperBound)
    }
}
