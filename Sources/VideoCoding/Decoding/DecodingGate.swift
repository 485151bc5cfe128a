public import MediaCore

/// Skips frames of a stream on purpose, so that no decoded frame refers to a skipped one.
///
/// It is a separate value, so that frames can also be skipped before they are handed to another thread.
public struct DecodingGate: Sendable {
    /// The decision on a frame.
    public enum Verdict: Hashable, Sendable {
        case decode
        /// The frame is not wanted.
        case skip
        /// The frame is wanted but refers to a skipped one: decoding can continue at the next keyframe.
        case awaitKeyframe
    }

    /// The interval after which an unreferenced frame is decoded although only references are wanted.
    public static let longestInterval = MediaTime(value: 1, timescale: 10)

    /// The wanted frames. They may change between any two.
    public var frames: DecodingEffort.Frames
    /// True if a frame to which others may refer was skipped since the last keyframe.
    public private(set) var lacksReferences = false
    private var newest: MediaTime?

    public init(frames: DecodingEffort.Frames = .all) {
        self.frames = frames
    }

    /// Decides on the next frame of the stream.
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

    /// Records that an admitted frame was dropped after all.
    public mutating func leftOut(_ sample: SampleBuffer) {
        if sample.dependency.isDependedOn != false { lacksReferences = true }
    }

    /// Decodes frames although references are missing, for a sender that makes no keyframes on request.
    public mutating func goOnWithoutReferences() {
        lacksReferences = false
    }
}
