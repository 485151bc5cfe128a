import H264

/// Estimates the reorder depth of a stream whose parameter sets do not state it.
///
/// The standard lets a decoder fill its whole picture buffer then (E.2.1), which would delay every stream without
/// B-frames. This estimator delays nothing until a picture leaves a gap before itself in output order, or precedes an
/// earlier one. `frame_num` reveals gaps by lost frames, unless nothing referred to the lost frame; then one frame is
/// delayed until the next IDR picture.
struct ReorderEstimator {
    /// Frames to hold back from the picture seen last on.
    private(set) var depth = 0
    private let maximumDepth: Int
    private let frameNumberMask: UInt32
    private var counter: PictureOrderCounter
    private var hasReordered = false
    private var highest = 0
    private var lastReferenceNumber: UInt32 = 0

    init(_ sequence: SequenceParameterSet) {
        maximumDepth = sequence.maximumDecodedFrames
        frameNumberMask = (1 << UInt32(sequence.log2MaximumFrameNumber)) - 1
        counter = PictureOrderCounter(sequence)
    }

    /// Takes the next picture in decoding order.
    mutating func observe(_ slice: SliceHeaderPeek) {
        let count = counter.count(slice)
        let isContinuous =
            slice.frameNumber == lastReferenceNumber
            || slice.frameNumber == (lastReferenceNumber &+ 1) & frameNumberMask
        if slice.isReference { lastReferenceNumber = slice.frameNumber }
        if slice.restartsNumbers {
            // All pictures before it precede it in output order, too, and its own count is zero for those after it.
            (highest, lastReferenceNumber) = (0, 0)
            return
        }
        if slice.isIDR {
            highest = count
            // Frames that were delayed for nothing have come out, because an IDR picture begins a new sequence.
            if !hasReordered { depth = 0 }
            return
        }
        if slice.isBidirectional { noticeReordering() }
        if count > highest {
            // Two to a frame: one for each field.
            let frames = (count &- highest &+ 1) / 2
            if frames > 1, isContinuous {
                // As many as a pyramid of the frames in between needs.
                depth = max(depth, min(maximumDepth, Int.bitWidth - (frames - 1).leadingZeroBitCount))
            }
            highest = count
        } else if count < highest {
            noticeReordering()
        }
    }

    private mutating func noticeReordering() {
        hasReordered = true
        depth = max(depth, 1)
    }
}
