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
        let count = UInt64(picture.frames.count)
        guard count > 0 else { return }
        for frame in picture.frames {
            add(from: frame.received, to: frame.assembled, as: .jitterBuffer)
            add(from: frame.assembled, to: frame.decodeStarted, as: .decodeQueue)
            add(from: frame.decodeStarted, to: frame.decoded, as: .decode)
            add(from: frame.decoded, to: picture.tick, as: .tickWait)
            total.observe(from: frame.received, to: now)
        }
        add(from: picture.tick, to: picture.composed, as: .compose, count: count)
        add(from: picture.composed, to: picture.encodeStarted, as: .encodeQueue, count: count)
        add(from: picture.encodeStarted, to: picture.encoded, as: .encode, count: count)
        add(from: picture.encoded, to: now, as: .pacer, count: count)
    }

    private mutating func add(
        from start: MonotonicInstant, to end: MonotonicInstant, as stage: LatencyStage, count: UInt64 = 1
    ) {
        histograms[stage].observe(from: start, to: end, count: count)
    }
}
