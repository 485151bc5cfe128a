/// Finds the start codes of the byte stream format (H.264 annex B).
enum StartCode {
    /// The offset of the first `00 00 01` that begins at or behind `start`, if any.
    static func firstOffset(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var index = start
        // The third byte decides the step: if it is above one, none of these three bytes can begin a start code.
        while index + 2 < bytes.count {
            switch bytes[index + 2] {
            case 0: index += 1
            case 1:
                if bytes[index] == 0 && bytes[index + 1] == 0 { return index }
                index += 3
            default: index += 3
            }
        }
        return nil
    }

    /// `end` moved back over zero bytes, which belong to the next start code or trail the unit, but not below `start`.
    static func trimmingZeros(in bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> Int {
        var end = end
        while end > start && bytes[end - 1] == 0 { end -= 1 }
        return end
    }
}
