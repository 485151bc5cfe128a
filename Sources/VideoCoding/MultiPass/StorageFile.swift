import Glibc
import NIOCore

/// A file that is written at its end and read anywhere, and that nobody else writes meanwhile.
///
/// Without a path it is a temporary one that has no name and goes when it is closed.
final class StorageFile {
    /// The file's name in errors.
    let name: String
    /// Bytes in the file.
    private(set) var size = 0

    private let path: String?
    /// The file's descriptor; negative after it was closed.
    private var descriptor: CInt

    /// Opens the file at `path`, or makes it.
    init(path: String?) throws(MultiPassError) {
        self.path = path
        if let path {
            name = path
            descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else { throw Self.failure("open it", of: name) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let isTaken = errno == EWOULDBLOCK
                let error = isTaken ? MultiPassError.inUse(path: path) : Self.failure("lock it", of: name)
                close()
                throw error
            }
            let end = lseek(descriptor, 0, SEEK_END)
            guard end >= 0 else {
                let error = Self.failure("find its size", of: name)
                close()
                throw error
            }
            size = Int(end)
        } else {
            let directory = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
            name = "a temporary file in \(directory)"
            var template = Array("\(directory)/videocoding.XXXXXX".utf8CString)
            descriptor = mkstemp(&template)
            guard descriptor >= 0 else { throw Self.failure("make it", of: name) }
            unlink(template)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit { close() }

    /// Reads `count` bytes from `offset` on; fewer at the end of the file.
    func read(at offset: Int, count: Int) throws(MultiPassError) -> ByteBuffer {
        guard descriptor >= 0 else { throw .closed }
        let wanted = max(0, min(count, size - offset))
        var buffer = ByteBufferAllocator().buffer(capacity: wanted)
        while buffer.readableBytes < wanted {
            let missing = wanted - buffer.readableBytes
            let position = off_t(offset + buffer.readableBytes)
            var status = 0
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: missing) { bytes in
                status = pread(descriptor, bytes.baseAddress, missing, position)
                return max(0, status)
            }
            if status < 0 && errno == EINTR { continue }
            guard status >= 0 else { throw Self.failure("read it", of: name) }
            // Someone cut the file off behind our back.
            guard status > 0 else { break }
        }
        return buffer
    }

    /// Writes at the end, all of it or nothing.
    func append(_ parts: ByteBuffer...) throws(MultiPassError) {
        let start = size
        var end = start
        do {
            for part in parts {
                try write(part, at: end)
                end += part.readableBytes
            }
        } catch {
            _ = ftruncate(descriptor, off_t(start))
            throw error
        }
        size = end
    }

    func write(_ bytes: ByteBuffer, at offset: Int) throws(MultiPassError) {
        guard descriptor >= 0 else { throw .closed }
        var written = 0
        while written < bytes.readableBytes {
            let status = bytes.withUnsafeReadableBytes { bytes in
                pwrite(
                    descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written, off_t(offset + written))
            }
            if status < 0 && errno == EINTR { continue }
            guard status > 0 else { throw Self.failure("write to it", of: name) }
            written += status
        }
    }

    /// Cuts the file off.
    func truncate(to newSize: Int) throws(MultiPassError) {
        guard descriptor >= 0 else { throw .closed }
        guard ftruncate(descriptor, off_t(newSize)) == 0 else { throw Self.failure("cut it off", of: name) }
        size = newSize
    }

    /// Returns when the file would survive a failure of the power.
    func synchronize() throws(MultiPassError) {
        guard descriptor >= 0 else { throw .closed }
        guard fdatasync(descriptor) == 0 else { throw Self.failure("write it out", of: name) }
    }

    /// Closes the file. Later calls are errors.
    func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// Closes the file and removes it from its folder.
    func remove() throws(MultiPassError) {
        guard descriptor >= 0 else { throw .closed }
        close()
        guard let path, unlink(path) != 0, errno != ENOENT else { return }
        throw Self.failure("remove it", of: name)
    }

    private static func failure(_ operation: String, of name: String) -> MultiPassError {
        .systemFailure(path: name, operation: operation, reason: String(cString: strerror(errno)))
    }
}
