/// Recognizes samples that are halves of a frame: an access unit may be a single field (H.264 7.4.1.2.4), and the
/// picture of two fields comes once, for the first.
struct FieldPairing {
    /// The fields of which a sample has slices.
    struct Content {
        fileprivate var hasTop = false
        fileprivate var hasBottom = false
        fileprivate var frameNumber: UInt32 = 0

        mutating func insert(_ slice: SliceHeaderPeek) {
            frameNumber = slice.frameNumber
            if !slice.isField {
                (hasTop, hasBottom) = (true, true)
            } else if slice.isBottomField {
                hasBottom = true
            } else {
                hasTop = true
            }
        }
    }

    enum Role {
        case frame
        case firstField
        case secondField
    }

    private var open: Content?

    /// The kind of the next sample in decoding order.
    mutating func role(of content: Content) -> Role {
        guard content.hasTop != content.hasBottom else {
            open = nil
            return .frame
        }
        if let first = open, first.hasTop != content.hasTop, first.frameNumber == content.frameNumber {
            open = nil
            return .secondField
        }
        open = content
        return .firstField
    }

    /// Starts again.
    mutating func reset() {
        open = nil
    }
}
