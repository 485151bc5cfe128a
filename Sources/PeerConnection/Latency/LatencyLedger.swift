package import MediaCore

/// The waits in the relay of the frames that a receiver was shown, stage by stage: from the last incoming packet of the
/// frame to the first outgoing packet of the picture that shows it. The stages add up to the total.
public struct LatencyLedger: Sendable {
    private var histograms = LatencyHistograms()
    /// The histogram of all stages together.
    public private(set) var total = LatencyHistogram()

    public init() {}

    public subscript(stage: LatencyStage) -> LatencyHistogram { histograms[stage] }

    /// Takes a picture whose first packet leaves.
    package mutating func observe(_ picture: PictureLedger, now: MonotonicInstant) {
        guard !picture.frames.isEmpty else { return }
        histograms.add(picture.stages)
        histograms[.pacer].observe(from: picture.encoded, to: now, count: UInt64(picture.frames.count))
        for frame in picture.frames { total.observe(from: frame.received, to: now) }
    }
}
