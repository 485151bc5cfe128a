import Glibc
import NIOCore

/// Finds the NAL units in what a driver wrote: start codes before each, and maybe parameter sets and filler that its
/// client did not ask for.
struct VAAPIStreamSplitter {
    private(set) var parameterSets: [ByteBuffer] = []

    /// Writes the slices in `stream` to `data`, each behind its length, and keeps the parameter sets.
    mutating func split(_ stream: UnsafeRawBufferPointer, into data: inout ByteBuffer) {
        parameterSets.removeAll(keepingCapacity: true)
        var unitStart = Self.endOfStartCode(stream, from: 0)
        while let start = unitStart {
            let next = Self.endOfStartCode(stream, from: start)
            var end = next.map { $0 - 3 } ?? stream.count
            // Zeros before the next start code, or behind the last unit.
            while end > start, stream[end - 1] == 0 { end -= 1 }
            if end > start { take(UnsafeRawBufferPointer(rebasing: stream[start..<end]), &data) }
            unitStart = next
        }
    }

    private mutating func take(_ unit: UnsafeRawBufferPointer, _ data: inout ByteBuffer) {
        switch unit[0] & 0x1F {
        case 1, 5:
            data.writeInteger(UInt32(truncatingIfNeeded: unit.count))
            data.writeBytes(unit)
        case 7, 8: parameterSets.append(ByteBuffer(bytes: unit))
        // Delimiters, messages and filler.
        default: break
        }
    }

    private static func endOfStartCode(_ stream: UnsafeRawBufferPointer, from offset: Int) -> Int? {
        guard let base = stream.baseAddress else { return nil }
        // The one behind two zeros.
        var next = offset + 2
        while next < stream.count, let found = memchr(base + next, 1, stream.count - next) {
            let one = UnsafeRawPointer(found) - base
            if stream[one - 1] == 0, stream[one - 2] == 0 { return one + 1 }
            next = one + 1
        }
        return nil
    }
}
