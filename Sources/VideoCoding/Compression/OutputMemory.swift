import NIOCore

/// The memory of a session's frames, reused when all users have released a frame.
///
/// It has a ring of buffers: a buffer in use is replaced by a new one, all others are overwritten. Unusually large
/// frames, such as keyframes, get memory of their own, so that the others stay small.
struct OutputMemory {
    private var buffers: [ByteBuffer]
    private var next = 0
    /// The size of usual frames.
    private var usualSize = 0
    /// The capacity of new buffers. It at least doubles, so that it is soon large enough for all frames: otherwise
    /// every buffer would grow by and by.
    private var room = leastSize

    private static let usualMultiple = 4
    private static let leastSize = 4096

    /// - Parameter count: The number of frames that may be held before memory has to be allocated.
    init(count: Int = 32) {
        buffers = Array(repeating: ByteBuffer(), count: max(1, count))
    }

    /// A buffer of `size` bytes that `body` writes to.
    mutating func makeBuffer(size: Int, _ body: (inout ByteBuffer) -> Void) -> ByteBuffer {
        guard size <= max(usualSize * Self.usualMultiple, Self.leastSize) else {
            usualSize += (size - usualSize) / 8
            var buffer = ByteBufferAllocator().buffer(capacity: size)
            body(&buffer)
            return buffer
        }
        usualSize += (size - usualSize) / 8
        let index = next
        next = (next + 1) % buffers.count
        if size > room { room = size * 2 }
        buffers[index].clear(minimumCapacity: room)
        body(&buffers[index])
        return buffers[index]
    }
}
