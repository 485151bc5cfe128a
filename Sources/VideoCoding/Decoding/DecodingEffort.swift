/// The part of a stream that is decoded, and the precision: for pictures that are shown much smaller, or not at all.
public struct DecodingEffort: Hashable, Sendable {
    /// The frames that are decoded. The others are answered with a drop, `DropReason.skipped`.
    public enum Frames: Hashable, Sendable {
        case all
        /// Frames that others refer to (`nal_ref_idc` other than 0), and others only where pictures would come too far
        /// apart without them: see `DecodingGate.longestInterval`.
        case references
        /// Frames at which decoding can begin. When more frames are wanted again, decoding continues at the next of
        /// these.
        case keyframes
    }

    /// The frames that pass the loop filter (H.264 8.7). Without it blocks have edges, and frames that refer to such a
    /// frame are predicted from a different picture than at the encoder: the difference adds up until the next
    /// keyframe.
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

    /// Everything is decoded in full.
    public static let full = DecodingEffort()
}
