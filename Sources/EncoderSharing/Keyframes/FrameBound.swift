package import CongestionControl
package import MediaCore

/// The size limit of a frame.
///
/// A coarse picture now, which the next frames sharpen, is better than a sharp one late. A keyframe of a detailed
/// picture is the largest frame: its limit is the room in its receivers' links.
///
/// With few pictures a second each takes longer: all limits also depend on the interval.
package enum FrameBound {
    /// A time, or a number of frame intervals if that is longer.
    package struct Span {
        package var time: Duration
        var intervals: Double

        package func duration(at frameRate: Int) -> Duration {
            max(time, .seconds(intervals / Double(max(1, frameRate))))
        }
    }

    /// The largest backlog of a link with which a frame is sent; a receiver that keeps up with its group stays below
    /// it.
    package static let queue = Span(time: .milliseconds(350), intervals: 5)
    /// The same for a link that carries too little for the group, and waits for a keyframe of another.
    static let queueOfFallen = Duration.milliseconds(200)
    /// The largest backlog of a link with which a frame of the uppermost temporal layer is sent.
    static let upperLayerQueue = Span(time: .milliseconds(60), intervals: 1.8)
    /// The largest backlog of a link with which a frame of the middle temporal layer is sent.
    static let middleLayerQueue = Span(time: .milliseconds(100), intervals: 3)
    /// A link's backlog with a keyframe, if the keyframe can be made so small: the next frames need room as well.
    private static let keyframeSpan = Span(time: .milliseconds(110), intervals: 3)
    /// The queue that several links together are assumed to have before a keyframe.
    private static let usualQueue = Span(time: .milliseconds(30), intervals: 1)
    /// The time of another frame on the link. The session makes a larger one again as a keyframe: a much lower limit
    /// would make keyframes of merely detailed frames.
    private static let longest = (
        shared: Span(time: .milliseconds(150), intervals: 4), alone: Span(time: .milliseconds(300), intervals: 4)
    )
    /// The bytes that the coarsest keyframe takes for a sample.
    private static let leastBytesPerSample = 0.011
    private static let leastSize = DataSize(bytes: 1000)

    /// The bound of a keyframe for one receiver.
    package static func keyframe(rate: BitRate, backlog: LinkBacklog, frameRate: Int) -> DataSize {
        rate.dataSize(over: max(.zero, keyframeSpan.duration(at: frameRate) - backlog.longest))
    }

    /// The time of a keyframe that comes every few seconds, at the rate: of pictures that are stored, for which no link
    /// waits, and of pictures for receivers without feedback. After a larger one OpenH264 saves so much that the next
    /// frames are poor: with 600 ms recordings had 0.6 dB less.
    private static let repeatedKeyframe = (stored: Duration.milliseconds(200), live: Duration.milliseconds(150))

    /// The bound of a keyframe that comes every few seconds.
    package static func repeatedKeyframe(rate: BitRate, isStored: Bool) -> DataSize {
        rate.dataSize(over: isStored ? repeatedKeyframe.stored : repeatedKeyframe.live)
    }

    /// Returns the limit of a keyframe for several receivers, the slowest of which has this rate. The present backlog
    /// of one link does not affect the others.
    package static func sharedKeyframe(slowest: BitRate, frameRate: Int) -> DataSize {
        keyframe(
            rate: slowest, backlog: LinkBacklog(sent: usualQueue.duration(at: frameRate)), frameRate: frameRate)
    }

    /// The bound of another frame.
    package static func frame(rate: BitRate, frameRate: Int, isShared: Bool) -> DataSize {
        rate.dataSize(over: (isShared ? longest.shared : longest.alone).duration(at: frameRate))
    }

    /// The time of a size's coarsest keyframe on a link at which the size is kept, and at which it can be chosen: while
    /// a link is full with a keyframe it takes no other frame, and without an end to it not even the next keyframe.
    package static let coarsestKeyframe = (
        kept: Span(time: .milliseconds(300), intervals: 5), regained: Span(time: .milliseconds(220), intervals: 4)
    )

    /// Returns true if the coarsest keyframe of a rung takes at most this long.
    package static func fitsKeyframe(of rung: EncodeRung, rate: BitRate, within span: Span) -> Bool {
        rate.duration(for: least(rung.dimensions)) <= span.duration(at: rung.frameRate)
    }

    /// The smallest limit: the size of a coarse keyframe of these dimensions.
    package static func least(_ dimensions: VideoDimensions) -> DataSize {
        max(leastSize, DataSize(bytes: Double(dimensions.area) * leastBytesPerSample))
    }
}
