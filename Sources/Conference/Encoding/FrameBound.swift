import MediaCore

/// The most that a frame takes.
///
/// It is better to see a coarse picture now, which the next frames sharpen, than a sharp one late. A keyframe of a detailed
/// picture is the largest frame there is: it takes no more than its receivers' links have room for.
enum FrameBound {
    /// What a link has to do with a keyframe and all that was sent before it, if the keyframe can be made so small…
    private static let keyFrameQueue = Duration.milliseconds(140)
    /// …and how much of that is taken to be there already where several links are meant.
    private static let usualBacklog = Duration.milliseconds(30)
    /// How long another frame takes the link. The session makes a larger one again as a keyframe: much less would make
    /// keyframes of what is merely detailed.
    private static let longest = (shared: Duration.milliseconds(150), alone: Duration.milliseconds(300))
    /// The same in times of the interval between two frames.
    private static let longestInIntervals = 2.5
    /// The bytes that the coarsest keyframe takes for a sample.
    private static let leastBytesPerSample = 0.011
    private static let leastSize = DataSize(bytes: 1000)

    /// The bound of a keyframe for one receiver.
    static func keyFrame(rate: BitRate, backlog: Duration) -> DataSize {
        rate.dataSize(over: max(.zero, keyFrameQueue - backlog))
    }

    /// The bound of a keyframe for several, the slowest of whom has this rate. What one link has to do at the moment makes
    /// no difference to the others.
    static func sharedKeyFrame(slowest: BitRate) -> DataSize {
        keyFrame(rate: slowest, backlog: usualBacklog)
    }

    /// The bound of another frame.
    static func frame(rate: BitRate, interval: Duration, isShared: Bool) -> DataSize {
        rate.dataSize(over: max(isShared ? longest.shared : longest.alone, interval * longestInIntervals))
    }

    /// No bound is less than what a keyframe of the size takes.
    static func least(_ dimensions: VideoDimensions) -> DataSize {
        max(leastSize, DataSize(bytes: Double(dimensions.area) * leastBytesPerSample))
    }
}
