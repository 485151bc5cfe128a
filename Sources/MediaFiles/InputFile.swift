import Foundation
public import NIOCore

/// The bytes of a file, read as they are needed, or of memory.
public final class InputFile {
    public let path: String
    private let handle: FileHandle?
    private var memory: ByteBuffer

    /// Opens a file for reading.
    public init(path: String) throws(MediaFileError) {
        self.path = path
        do {
            handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        } catch {
            throw .cannotOpen(path: path, reason: Self.reason(path: path))
        }
        memory = ByteBuffer()
    }

    /// Reads from memory instead of a file.
    public init(name: String, contents: ByteBuffer) {
        path = name
        handle = nil
        memory = contents
    }

    deinit {
        try? handle?.close()
    }

    /// Returns the reason for which a file could not be opened.
    private static func reason(path: String) -> String {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            return "there is no such file"
        }
        return isDirectory.boolValue ? "it is a directory" : "it may not be read"
    }

    /// The next `count` bytes, or as many as are left.
    public func read(_ count: Int) throws(MediaFileError) -> ByteBuffer {
        guard count > 0 else { return ByteBuffer() }
        guard let handle else {
            return memory.readSlice(length: min(count, memory.readableBytes)) ?? ByteBuffer()
        }
        do {
            var buffer = ByteBuffer()
            while buffer.readableBytes < count,
                let data = try handle.read(upToCount: count - buffer.readableBytes), !data.isEmpty
            {
                buffer.writeBytes(data)
            }
            return buffer
        } catch {
            throw .cannotOpen(path: path, reason: "it cannot be read")
        }
    }

    /// Everything that is left, up to `limit` bytes.
    ///
    /// - Throws: `MediaFileError.cannotOpen` when there is more.
    public func readToEnd(limit: Int) throws(MediaFileError) -> ByteBuffer {
        var contents = ByteBuffer()
        while true {
            let chunk = try read(1 << 20)
            guard chunk.readableBytes > 0 else { return contents }
            guard contents.readableBytes + chunk.readableBytes <= limit else {
                throw .cannotOpen(path: path, reason: "it is larger than \(limit >> 20) MiB")
            }
            contents.writeImmutableBuffer(chunk)
        }
    }

    /// Goes to byte `offset` of the file. Not for memory.
    public func seek(to offset: Int) throws(MediaFileError) {
        do {
            try handle?.seek(toOffset: UInt64(max(0, offset)))
        } catch {
            throw .cannotOpen(path: path, reason: "it cannot be read from its start again")
        }
    }
}
