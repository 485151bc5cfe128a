/// The part of a span of samples that lies on a picture, in luma and in chroma samples.
struct VisibleSpan {
    /// A span's chroma samples: the first where only its second half is covered, the whole ones, the last where only
    /// its first half is.
    enum Part {
        case leading
        case whole
        case trailing

        static func visitAll(_ body: (Part) -> Void) {
            body(.leading)
            body(.whole)
            body(.trailing)
        }
    }

    let range: Range<Int>
    private let isLeadingHalf: Bool
    private let isTrailingHalf: Bool

    /// Positions further out than this are nowhere near a picture; so sums cannot overflow.
    private static let farthest = 1 << 30

    /// - Parameters:
    ///   - position: The start of the span.
    ///   - limit: The length of the picture.
    ///   - clip: The start and end of the writable part.
    init?(at position: Int, length: Int, limit: Int, clip: (Int, Int)?) {
        guard position.magnitude < Self.farthest, length > 0 else { return nil }
        let lower = max(position, 0, clip?.0 ?? 0)
        let upper = min(position + min(length, Self.farthest), limit, clip?.1 ?? limit)
        guard lower < upper else { return nil }
        range = lower..<upper
        isLeadingHalf = lower & 1 != 0
        isTrailingHalf = upper & 1 != 0 && upper < limit
    }

    /// All chroma samples of which at least one luma sample is in the span.
    var chroma: Range<Int> { range.lowerBound / 2..<(range.upperBound + 1) / 2 }

    func chroma(_ part: Part) -> (range: Range<Int>, isHalf: Bool) {
        let all = chroma
        let first = isLeadingHalf ? all.lowerBound + 1 : all.lowerBound
        let last = isTrailingHalf ? all.upperBound - 1 : all.upperBound
        return switch part {
        case .leading: (all.lowerBound..<first, true)
        case .whole: (first..<max(first, last), false)
        case .trailing: (last..<all.upperBound, true)
        }
    }
}
