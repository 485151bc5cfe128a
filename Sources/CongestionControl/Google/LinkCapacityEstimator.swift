import MediaCore

/// Remembers at which rates the path was found to be full: an average and its deviation (libwebrtc's class of this
/// name).
struct LinkCapacityEstimator: Sendable {
    static let smoothing = 0.05
    static let deviationRange = 0.4...2.5

    /// The average in kbit/s.
    private var average: Double?
    /// The variance over the average, in kbit/s.
    private var normalizedVariance = deviationRange.lowerBound

    /// The average; nil until the path was full once, or again after a reset.
    var rate: BitRate? { average.map { .kilobits($0) } }

    /// The average plus three deviations.
    var upperBound: BitRate? { average.map { .kilobits($0 + 3 * deviation(of: $0)) } }

    /// The average minus three deviations.
    var lowerBound: BitRate? { average.map { .kilobits(max(0, $0 - 3 * deviation(of: $0))) } }

    /// The path was full while this rate arrived.
    mutating func overuseDetected(at rate: BitRate) {
        let sample = rate.kilobitsPerSecond
        let updated = average.map { (1 - Self.smoothing) * $0 + Self.smoothing * sample } ?? sample
        average = updated
        let error = updated - sample
        normalizedVariance =
            (1 - Self.smoothing) * normalizedVariance + Self.smoothing * error * error / max(updated, 1)
        normalizedVariance = min(
            max(normalizedVariance, Self.deviationRange.lowerBound), Self.deviationRange.upperBound)
    }

    /// Forgets the capacity, after a change of the path.
    mutating func reset() {
        average = nil
    }

    private func deviation(of average: Double) -> Double {
        (normalizedVariance * average).squareRoot()
    }
}
