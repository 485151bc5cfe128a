/// How much of a stream is decoded, and how exactly: for pictures that are shown much smaller than they are, or not at
/// all.
public struct DecodingEffort: Hashable, Sendable {
    /// Which frames are decoded. The others are answered with a drop, `DropReason.skipped`.
    public enum Frames: Hashable, Sendable {
        case all
        /// Frames that others refer to (`nal_ref_idc` other than 0), and others only where pictures would come too far
        /// apart without them: see `DecodingGate.longestInterval`.
        case references
        /// Frames at which decoding can begin. When more are wanted again, it goes on with the next of these.
        case keyframes
    }

    /// Which frames pass the loop filter (H.264 8.7). Without it blocks have edges, and what refers to such a frame is
    /// predicted from something else than at the encoder: the difference adds up until the next keyframe.
    public enum LoopFilter: Hashable, Sendable {
        case all
        /// Frames that others refer to: errors do not add up.
        case references
        case none
    }

    public var frames: Frames
    public var loopFilter: LoopFilter

    public init(frames: Frames = .all, loopFilter: LoopFilter = .all) {
        self.frames = frames
        self.loopFilter = loopFilter
    }

    /// Everything, as it was meant.
    public static let full = DecodingEffort()
}
