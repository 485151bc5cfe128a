import CLibAVFormat
import NIOCore

/// A `MovieFile` as libavformat writes to it.
///
/// libavformat holds the object's address while the context lives: the owner keeps the object until `close`.
final class MovieFileOutput {
    private static let bufferSize: Int32 = 64 << 10

    let context: UnsafeMutablePointer<AVIOContext>
    private let state: State

    private final class State {
        let file: any MovieFile
        var failure: String?

        init(_ file: any MovieFile) {
            self.file = file
        }
    }

    /// The reason why the file could not be written; nil if there is none.
    var failure: String? { state.failure }

    /// - Returns: Nil if there is no memory.
    init?(_ file: any MovieFile) {
        state = State(file)
        guard let buffer = av_malloc(Int(Self.bufferSize)) else { return nil }
        let context = avio_alloc_context(
            buffer.assumingMemoryBound(to: UInt8.self), Self.bufferSize, 1, Unmanaged.passUnretained(state).toOpaque(),
            nil,
            { opaque, bytes, count in
                guard let opaque, let bytes, count > 0 else { return 0 }
                let state = Unmanaged<State>.fromOpaque(opaque).takeUnretainedValue()
                guard state.failure == nil else { return LibAVFormat.inputOutputError }
                do {
                    try state.file.append(
                        ByteBuffer(bytes: UnsafeRawBufferPointer(start: bytes, count: Int(count))))
                    return count
                } catch {
                    state.failure = "\(error)"
                    return LibAVFormat.inputOutputError
                }
            }, nil)
        guard let context else {
            av_free(buffer)
            return nil
        }
        self.context = context
    }

    deinit {
        av_free(context.pointee.buffer)
        var context: UnsafeMutablePointer<AVIOContext>? = context
        avio_context_free(&context)
    }
}
