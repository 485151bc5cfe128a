import DequeModule
import MediaCore
import MediaFiles
import NIOCore
import Synchronization

/// The bytes of a stream that is pushed to the relay: from its connection to the thread that reads them.
final class StreamPipe: Sendable {
    /// A stream that is read too slowly is given up.
    private static let mostBytes = 16 << 20
    private static let patience = Duration.seconds(10)

    private struct State {
        var parts = Deque<ByteBuffer>()
        var bytes = 0
        var isEnded = false
        var onClose: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let news = TimedSemaphore()

    /// Adds bytes. Returns false if nobody reads them any more, or too slowly.
    func append(_ bytes: ByteBuffer) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isEnded, state.bytes + bytes.readableBytes <= Self.mostBytes else { return false }
            state.parts.append(bytes)
            state.bytes += bytes.readableBytes
            return true
        }
        if isTaken { news.signal() }
        return isTaken
    }

    /// Marks the end of the stream, behind the bytes that were added.
    func end() {
        state.withLock { $0.isEnded = true }
        news.signal()
    }

    /// Sets the action for when the reader stops reading.
    func setOnClose(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onClose = action } }

    /// Nobody reads any more.
    func close() {
        let action = state.withLock { state in
            state.isEnded = true
            (state.parts, state.bytes) = ([], 0)
            defer { state.onClose = nil }
            return state.onClose
        }
        news.signal()
        action?()
    }

    /// Reads bytes, for which it waits. Returns zero at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(StreamFailure) -> Int {
        let deadline = MonotonicInstant.now() + Self.patience
        while true {
            let count: Int? = state.withLock { state in
                guard var part = state.parts.popFirst() else { return state.isEnded ? 0 : nil }
                let count = min(buffer.count, part.readableBytes)
                part.readWithUnsafeReadableBytes { bytes in
                    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                    return count
                }
                state.bytes -= count
                if part.readableBytes > 0 { state.parts.prepend(part) }
                return count
            }
            if let count { return count }
            guard news.wait(until: deadline) else { throw .timedOut }
        }
    }
}
