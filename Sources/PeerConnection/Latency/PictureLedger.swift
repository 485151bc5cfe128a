package import MediaCore

/// The waits of an encoded picture: the frames that it is the first to show, and the times of their common stages. All
/// of its receivers share it.
package final class PictureLedger: Sendable {
    package let frames: [SourceFrameTimes]
    /// The start of the tick.
    package let tick: MonotonicInstant
    package let composed: MonotonicInstant
    let encodeStarted: MonotonicInstant
    package let encoded: MonotonicInstant

    package init(_ shown: ShownFrames, encodeStarted: MonotonicInstant, encoded: MonotonicInstant) {
        frames = shown.frames
        tick = shown.tick
        composed = shown.composed
        self.encodeStarted = encodeStarted
        self.encoded = encoded
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
