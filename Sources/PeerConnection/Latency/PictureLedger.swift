package import MediaCore

/// The waits of an encoded picture: the frames that it is the first to show, and the times of their common stages. All
/// of its receivers share it.
package final class PictureLedger: Sendable {
    package let frames: [SourceFrameTimes]
    package let encoded: MonotonicInstant
    /// The stages of the frames up to here. Counted once for all receivers: in a large room there would be thousands of
    /// counts a tick.
    let stages: LatencyHistograms

    package init(_ shown: ShownFrames, encodeStarted: MonotonicInstant, encoded: MonotonicInstant) {
        frames = shown.frames
        self.encoded = encoded
        var stages = LatencyHistograms()
        for frame in frames {
            stages[.jitterBuffer].observe(from: frame.received, to: frame.assembled)
            stages[.decodeQueue].observe(from: frame.assembled, to: frame.decodeStarted)
            stages[.decode].observe(from: frame.decodeStarted, to: frame.decoded)
            stages[.tickWait].observe(from: frame.decoded, to: shown.tick)
        }
        let count = UInt64(frames.count)
        stages[.compose].observe(from: shown.tick, to: shown.composed, count: count)
        stages[.encodeQueue].observe(from: shown.composed, to: encodeStarted, count: count)
        stages[.encode].observe(from: encodeStarted, to: encoded, count: count)
        self.stages = stages
    }
}

/// The frames that a picture is the first to show, before it is encoded.
package struct ShownFrames: Sendable {
    package var frames: [SourceFrameTimes]
    package var tick: MonotonicInstant
    package var composed: MonotonicInstant

    package init(frames: [SourceFrameTimes], tick: MonotonicInstant, composed: MonotonicInstant) {
        self.frames = frames
        self.tick = tick
        self.composed = composed
    }
}
