import H264

/// Counts pictures in output order by their slice headers (H.264 8.2.1).
struct PictureOrderCounter {
    private let counting: SequenceParameterSet.PictureOrderCount
    private let maximumFrameNumber: Int
    private var previousMSB = 0
    private var previousLSB = 0
    private var previousFrameNumber = 0
    private var frameNumberOffset = 0

    init(_ sequence: SequenceParameterSet) {
        counting = sequence.pictureOrderCount
        maximumFrameNumber = 1 << sequence.log2MaximumFrameNumber
    }

    /// The picture order count of the next picture in decoding order.
    mutating func count(_ slice: SliceHeaderPeek) -> Int {
        defer { if slice.restartsNumbers { restart() } }
        return switch counting {
        case .explicit(let bits): explicitCount(slice, period: 1 << bits)
        case .cyclic(_, let nonReferenceOffset, _, let offsets):
            cyclicCount(slice, offsets: offsets, nonReferenceOffset: nonReferenceOffset)
        case .decodingOrder: 2 * absoluteFrameNumber(slice)
        }
    }

    /// The count goes on from zero, that of the picture before.
    private mutating func restart() {
        (previousMSB, previousLSB) = (0, 0)
        (previousFrameNumber, frameNumberOffset) = (0, 0)
    }

    /// 8.2.1.1
    private mutating func explicitCount(_ slice: SliceHeaderPeek, period: Int) -> Int {
        if slice.isIDR { (previousMSB, previousLSB) = (0, 0) }
        let low = Int(slice.orderCountLSB)
        var high = previousMSB
        if low < previousLSB, previousLSB - low >= period / 2 {
            high &+= period
        } else if low > previousLSB, low - previousLSB > period / 2 {
            high &-= period
        }
        if slice.isReference { (previousMSB, previousLSB) = (high, low) }
        return high &+ low
    }

    /// 8.2.1.2
    private mutating func cyclicCount(_ slice: SliceHeaderPeek, offsets: [Int], nonReferenceOffset: Int) -> Int {
        var number = absoluteFrameNumber(slice)
        if offsets.isEmpty { number = 0 }
        if !slice.isReference, number > 0 { number -= 1 }
        var expected = 0
        if number > 0 {
            let (cycles, position) = (number - 1).quotientAndRemainder(dividingBy: offsets.count)
            for index in offsets.indices {
                expected &+= offsets[index] &* (index <= position ? cycles + 1 : cycles)
            }
        }
        if !slice.isReference { expected &+= nonReferenceOffset }
        return expected &+ slice.orderCountDelta
    }

    /// `FrameNumOffset + frame_num`
    private mutating func absoluteFrameNumber(_ slice: SliceHeaderPeek) -> Int {
        let number = Int(slice.frameNumber)
        if slice.isIDR {
            frameNumberOffset = 0
        } else if previousFrameNumber > number {
            frameNumberOffset &+= maximumFrameNumber
        }
        previousFrameNumber = number
        return frameNumberOffset &+ number
    }
}
