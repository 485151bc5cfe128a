import MediaCore

/// The deviations of frames from a rate, as shares of it, over every span of one second after the first.
///
/// The first second contains the keyframe, which no encoder compensates at once.
struct RateDeviation {
    /// The mean of the absolute deviations.
    var mean = 0.0
    /// The largest, with its sign.
    var worst = 0.0

    init(sizes: [DataSize], rate: BitRate, frameRate: Int) {
        guard sizes.count >= 2 * frameRate else { return }
        let starts = frameRate...(sizes.count - frameRate)
        let deviations = starts.map { Self.of(sizes[$0..<$0 + frameRate], from: rate, frameRate: frameRate) }
        mean = deviations.reduce(0) { $0 + abs($1) } / Double(deviations.count)
        worst = deviations.max { abs($0) < abs($1) } ?? 0
    }

    /// The deviation of the mean rate of `sizes` from `rate`.
    static func of(_ sizes: ArraySlice<DataSize>, from rate: BitRate, frameRate: Int) -> Double {
        guard !sizes.isEmpty, rate > .zero else { return 0 }
        let bits = sizes.reduce(0.0) { $0 + $1.bits }
        return bits * Double(frameRate) / Double(sizes.count) / Double(rate.bitsPerSecond) - 1
    }
}
