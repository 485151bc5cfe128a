import MediaCore

/// Estimates the rate at which packets arrive, from what feedback acknowledges: a Bayesian average over windows of
/// 150 ms (the first of 500 ms) that trusts a sample the less, the further it lies from the estimate.
struct AcknowledgedRateEstimator: Sendable {
    static let firstWindow = 500.0
    static let window = 150.0
    static let uncertaintyScale = 10.0
    static let initialVariance = 50.0
    static let varianceGrowth = 5.0
    static let fastChangeVariance = 200.0

    /// In kbit/s.
    private var estimate: Double?
    private var variance = initialVariance
    private var windowBits = 0.0
    /// How much of the window has passed, in ms.
    private var windowTime = 0.0
    private var lastReceive: MonotonicInstant?

    /// The estimate; nil before the first window is full.
    var rate: BitRate? { estimate.map { .kilobits($0) } }

    /// Takes the next packet by arrival.
    mutating func add(size: DataSize, receiveTime: MonotonicInstant) {
        guard let sample = addToWindow(size: size, receiveTime: receiveTime) else { return }
        guard let estimate else {
            self.estimate = sample
            return
        }
        let uncertainty = Self.uncertaintyScale * (estimate - sample).magnitude / max(estimate, 1)
        let sampleVariance = uncertainty * uncertainty
        let predictedVariance = variance + Self.varianceGrowth
        self.estimate =
            (sampleVariance * estimate + predictedVariance * sample) / (sampleVariance + predictedVariance)
        variance = sampleVariance * predictedVariance / (sampleVariance + predictedVariance)
    }

    /// The rate may be another one from now on: the next samples weigh more.
    mutating func expectFastChange() {
        variance += Self.fastChangeVariance
    }

    /// The rate of the window in kbit/s when it is full.
    private mutating func addToWindow(size: DataSize, receiveTime: MonotonicInstant) -> Double? {
        let length = estimate == nil ? Self.firstWindow : Self.window
        if let last = lastReceive {
            let interval = (receiveTime - last).milliseconds
            if interval < 0 {
                // The receiver's clock went back: what was measured so far means nothing.
                windowBits = 0
                windowTime = 0
            } else {
                windowTime += interval
                if interval > length {
                    // Nothing came for longer than a window: that was a pause, not a low rate.
                    windowBits = 0
                    windowTime = windowTime.truncatingRemainder(dividingBy: length)
                }
            }
        }
        lastReceive = receiveTime
        var sample: Double?
        if windowTime >= length {
            sample = windowBits / length
            windowTime -= length
            windowBits = 0
        }
        windowBits += size.bits
        return sample
    }
}
