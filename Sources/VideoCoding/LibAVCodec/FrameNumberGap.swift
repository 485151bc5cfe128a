import H264

/// Finds references that a stream lacks by their numbers (`frame_num`, H.264 7.4.3).
struct FrameNumberGap {
    /// The number of the last reference; nil: no keyframe has come.
    private var last: UInt32?
    private var lastWasField = false

    /// True if no reference is missing since the last keyframe.
    var isClosed: Bool { last != nil }

    /// Takes the first slice of the next frame. Returns true if frames before it are missing, and until a keyframe.
    mutating func isOpen(at slice: SliceHeaderPeek, in sequence: SequenceParameterSet) -> Bool {
        if slice.isIDR { last = nil } else if last == nil { return true }
        let count: UInt32 = 1 << UInt32(sequence.log2MaximumFrameNumber)
        if let last, slice.frameNumber != (last &+ 1) % count {
            // The second field of a frame has the number of the first.
            guard slice.isField, lastWasField, slice.frameNumber == last else {
                self.last = nil
                return true
            }
        }
        if slice.isReference { last = slice.restartsNumbers ? 0 : slice.frameNumber }
        lastWasField = slice.isField
        return false
    }
}
