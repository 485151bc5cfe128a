public import NIOCore

/// Bytes in one or several blocks of memory, which are referenced and not copied.
///
/// A frame from an encoder is one block; a frame made of pieces (a length here, a NAL unit there) may stay in them.
/// `contiguous()` gives the bytes in one piece, and copies only if there are several.
public struct BlockBuffer: Sendable {
    // The first block is separate, so that the common case of one block needs no array.
    private var first: ByteBuffer
    private var rest: [ByteBuffer] = []

    public private(set) var count: Int

    public init() {
        self.init(ByteBuffer())
    }

    /// Refers to the readable bytes of `block`.
    public init(_ block: ByteBuffer) {
        first = block
        count = block.readableBytes
    }

    public var isEmpty: Bool { count == 0 }

    /// True if all bytes are in one block.
    public var isContiguous: Bool { rest.isEmpty }

    /// The blocks in order; none is empty, except the one of an empty buffer.
    public var blocks: [ByteBuffer] { [first] + rest }

    /// Appends a reference to the readable bytes of another block.
    public mutating func append(_ block: ByteBuffer) {
        guard block.readableBytes > 0 else { return }
        if isEmpty { first = block } else { rest.append(block) }
        count += block.readableBytes
    }

    /// Appends a reference to the bytes of another buffer.
    public mutating func append(_ other: BlockBuffer) {
        append(other.first)
        for block in other.rest { append(block) }
    }

    /// All bytes in one block: the only one, or a copy of several.
    public func contiguous() -> ByteBuffer {
        guard !isContiguous else { return first }
        var joined = ByteBufferAllocator().buffer(capacity: count)
        joined.writeImmutableBuffer(first)
        for block in rest { joined.writeImmutableBuffer(block) }
        return joined
    }

    /// The bytes of `range`, in the same memory; nil if it is out of bounds.
    public func slice(_ range: Range<Int>) -> BlockBuffer? {
        guard range.lowerBound >= 0, range.upperBound <= count else { return nil }
        var slice = BlockBuffer()
        var offset = 0
        for block in blocks {
            let part = range.clamped(to: offset..<(offset + block.readableBytes))
            if let piece = block.getSlice(at: block.readerIndex + part.lowerBound - offset, length: part.count) {
                slice.append(piece)
            }
            offset += block.readableBytes
        }
        return slice
    }

    /// Copies as many bytes as there are and `target` has room for.
    public func copyBytes(into target: UnsafeMutableRawBufferPointer) {
        var offset = Self.copy(first, into: target, at: 0)
        for block in rest { offset += Self.copy(block, into: target, at: offset) }
    }

    private static func copy(_ block: ByteBuffer, into target: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
        block.withUnsafeReadableBytes { bytes in
            let piece = UnsafeRawBufferPointer(rebasing: bytes.prefix(max(0, target.count - offset)))
            UnsafeMutableRawBufferPointer(rebasing: target[min(offset, target.count)...]).copyMemory(from: piece)
            return piece.count
        }
    }
}

extension BlockBuffer: Equatable {
    /// Returns true if both hold the same bytes, in blocks of any size.
    public static func == (left: BlockBuffer, right: BlockBuffer) -> Bool {
        left.count == right.count && left.contiguous() == right.contiguous()
    }
}
