public import MediaCore

/// Leaves frames of a stream out on purpose, so that none is decoded that refers to one that was left out.
///
/// A value of its own, so that frames can also be left out before they are handed to another thread.
public struct DecodingGate: Sendable {
    /// Whether a frame is decoded.
    public enum Verdict: Hashable, Sendable {
        case decode
        /// It is not wanted.
        case skip
        /// It is wanted, but what it refers to was not: it is of no use before the next keyframe.
        case awaitKeyframe
    }

    /// Where only references are decoded: a frame that nothing refers to is decoded all the same when the picture
    /// before is so much older.
    public static let longestInterval = MediaTime(value: 1, timescale: 10)

    /// Which frames are wanted. May change between any two.
    public var frames: DecodingEffort.Frames
    /// Whether a frame was left out since the last keyframe to which others may refer.
    public private(set) var lacksReferences = false
    private var newest: MediaTime?

    public init(frames: DecodingEffort.Frames = .all) {
        self.frames = frames
    }

    /// Says what becomes of the next frame of the stream.
    public mutating func admit(_ sample: SampleBuffer) -> Verdict {
        if sample.isSync {
            lacksReferences = false
        } else if frames == .keyframes {
            if sample.dependency.isDependedOn != false { lacksReferences = true }
            return .skip
        } else if lacksReferences {
            return .awaitKeyframe
        } else if frames == .references, sample.dependency.isDependedOn == false, let newest,
            sample.presentationTime - newest < Self.longestInterval
        {
            return .skip
        }
        newest = sample.presentationTime
        return .decode
    }

    /// Notes that a frame that it admitted is left out all the same.
    public mutating func leftOut(_ sample: SampleBuffer) {
        if sample.dependency.isDependedOn != false { lacksReferences = true }
    }

    /// Decodes what comes although references are missing: of a sender from whom no keyframe is to be had.
    public mutating func goOnWithoutReferences() {
        lacksReferences = false
    }
}
