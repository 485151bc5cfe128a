import H264

/// How many frames to hold back of a stream whose parameter sets do not say whether it reorders.
///
/// The standard has a decoder fill its whole picture buffer then (E.2.1), which would delay every stream without
/// B-frames. This estimator holds nothing back until a picture leaves room before itself in output order, or comes
/// before one that went ahead of it. Room that a lost frame left is told by `frame_num`; where nothing referred to the
/// lost frame it is not, and a frame is held back until the next IDR picture.
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

    /// Takes in the next picture in decoding order.
    mutating func observe(_ slice: SliceHeaderPeek) {
        let count = counter.count(slice)
        let isContinuous =
            slice.frameNumber == lastReferenceNumber
            || slice.frameNumber == (lastReferenceNumber &+ 1) & frameNumberMask
        if slice.isReference { lastReferenceNumber = slice.frameNumber }
        if slice.isIDR {
            highest = count
            // What was held back in vain up to here has come out, since an IDR picture begins a sequence of its own.
            if !hasReordered { depth = 0 }
            return
        }
        if slice.isBidirectional { reorders(atLeast: 1) }
        if count > highest {
            // Two to a frame: one for each field.
            let frames = (count &- highest &+ 1) / 2
            if frames > 1, isContinuous {
                // As many as a pyramid of the frames in between needs.
                depth = max(depth, min(maximumDepth, Int.bitWidth - (frames - 1).leadingZeroBitCount))
            }
            highest = count
        } else if count < highest {
            reorders(atLeast: 1)
        }
    }

    private mutating func reorders(atLeast frames: Int) {
        hasReordered = true
        depth = max(depth, frames)
    }
}
