package import MediaCore

/// What an encoded picture waited for: the frames of sources that it is the first to show, and when it passed the
/// stages that these have in common. All of its receivers share it.
package final class PictureLedger: Sendable {
    package let frames: [SourceFrameTimes]
    /// When the tick began.
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
