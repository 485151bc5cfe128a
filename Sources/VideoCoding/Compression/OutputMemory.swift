import NIOCore

/// The memory of a session's frames, used again when whoever held a frame has let go of it.
///
/// It goes round a number of buffers: one that is still held is replaced by a new one, all others are written anew.
/// What is unusually large, as keyframes are, gets memory of its own, so that the others stay small.
struct OutputMemory {
    private var buffers: [ByteBuffer]
    private var next = 0
    /// The size of usual frames.
    private var usualSize = 0
    /// What each buffer holds once it has been used. It at least doubles, so that it is soon large enough for all
    /// frames to come: if each buffer held what it has held before, every one of them would grow by and by.
    private var room = leastSize

    private static let usualMultiple = 4
    private static let leastSize = 4096

    /// - Parameter count: How many frames may be held before memory has to be allocated.
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
