public import MediaCore

/// What the frames that a receiver was shown waited for in the relay, stage by stage, from the last packet of the frame
/// in to the first packet out of the picture that shows it. The stages add up to the total.
public struct LatencyLedger: Sendable {
    private var histograms = [LatencyHistogram](repeating: LatencyHistogram(), count: LatencyStage.allCases.count)
    /// All stages together.
    public private(set) var total = LatencyHistogram()

    public init() {}

    public subscript(stage: LatencyStage) -> LatencyHistogram { histograms[stage.rawValue] }

    /// Takes a picture whose first packet leaves.
    mutating func observe(_ picture: PictureLedger, now: MonotonicInstant) {
        let count = UInt64(picture.frames.count)
        guard count > 0 else { return }
        for frame in picture.frames {
            add(frame.assembled - frame.received, to: .jitterBuffer)
            add(frame.decodeStarted - frame.assembled, to: .decodeQueue)
            add(frame.decoded - frame.decodeStarted, to: .decode)
            add(picture.tick - frame.decoded, to: .tickWait)
            total.observe(now - frame.received)
        }
        add(picture.composed - picture.tick, to: .compose, count: count)
        add(picture.encodeStarted - picture.composed, to: .encodeQueue, count: count)
        add(picture.encoded - picture.encodeStarted, to: .encode, count: count)
        add(now - picture.encoded, to: .pacer, count: count)
    }

    private mutating func add(_ duration: Duration, to stage: LatencyStage, count: UInt64 = 1) {
        histograms[stage.rawValue].observe(duration, count: count)
    }
}
