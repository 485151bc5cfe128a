import MediaCore
import PeerConnection

/// Finds the frames of its sources that a picture of a series is the first to show.
struct ShownFrameFilter {
    private var shown: [SourceID: UInt64] = [:]

    /// The frames in a tick's picture that no picture before it showed.
    ///
    /// A source that was not seen before counts from its next frame on: the one that there is may have been shown
    /// elsewhere, long ago.
    mutating func take(_ tick: ComposedTick, picture index: Int) -> ShownFrames {
        let visible = tick.sources.indices.contains(index) ? tick.sources[index] : []
        var new: [SourceFrameTimes] = []
        for frame in tick.frames where visible.contains(frame.source) {
            let last = shown.updateValue(frame.number, forKey: frame.source)
            if let last, last != frame.number { new.append(frame) }
        }
        if shown.count > tick.frames.count {
            shown = shown.filter { known in tick.frames.contains { $0.source == known.key } }
        }
        return ShownFrames(frames: new, tick: tick.handedOut, composed: tick.composed)
    }
}
