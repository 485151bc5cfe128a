import MediaCore

/// What an encoded picture waited for: the frames of sources that it is the first to show, and when it passed the stages
/// that these have in common. All of its receivers share it.
final class PictureLedger: Sendable {
    let frames: [SourceFrameTimes]
    /// When the tick began.
    let tick: MonotonicInstant
    let composed: MonotonicInstant
    let encodeStarted: MonotonicInstant
    let encoded: MonotonicInstant

    /// - Parameter completion: Of the job that encoded it.
    init(_ shown: ShownFrames, encodedBy completion: JobCompletion) {
        frames = shown.frames
        tick = shown.tick
        composed = shown.composed
        encodeStarted = completion.started
        encoded = completion.finished
    }
}

/// The same of a picture that is not encoded yet.
struct ShownFrames: Sendable {
    var frames: [SourceFrameTimes]
    var tick: MonotonicInstant
    var composed: MonotonicInstant
}
