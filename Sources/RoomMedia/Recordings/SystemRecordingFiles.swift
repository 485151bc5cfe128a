import FlightFiles
import Glibc
package import MediaCore
import MediaFiles
package import NIOCore

/// The machine's own file system.
package struct SystemRecordingFiles: RecordingFileSystem {
    package init() {}

    package func makeFolder(_ path: String) throws(RecordingFileError) {
        guard WritablePath.make(path) else { throw SystemRecordingFile.error(errno, path: path) }
    }

    package func create(_ path: String) throws(RecordingFileError) -> any RecordingFile {
        // Mode 0600: what people say is private.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemRecordingFile.error(errno, path: path) }
        return SystemRecordingFile(path: path, descriptor: descriptor)
    }

    package func replace(_ path: String, with bytes: ByteBuffer) throws(RecordingFileError) {
        let temporary = path + ".new"
        unlink(temporary)
        let file = try create(temporary)
        var isReplaced = false
        defer {
            file.close()
            if !isReplaced { unlink(temporary) }
        }
        do {
            try file.append(bytes)
        } catch {
            throw file.failure ?? RecordingFileError(path: path, isDiskFull: false, reason: "\(error)")
        }
        try file.synchronize()
        guard rename(temporary, path) == 0 else { throw SystemRecordingFile.error(errno, path: path) }
        isReplaced = true
    }

    package func hasFile(_ path: String) -> Bool { WritablePath.exists(path) }

    package func freeSpace(at path: String) -> DataSize? {
        var information = statvfs()
        guard statvfs(path, &information) == 0 else { return nil }
        return DataSize(bytes: Double(information.f_bavail) * Double(information.f_frsize))
    }
}

/// A file of the machine's. Belongs to the thread that writes the recording.
final class SystemRecordingFile: RecordingFile {
    private let path: String
    private var descriptor: CInt
    private let write: ((CInt, UnsafeRawBufferPointer) -> Int)?
    private(set) var size = 0
    private(set) var failure: RecordingFileError?

    /// - Parameter write: As the system's call of this name, which is called where this is nil; tests have it fail.
    init(path: String, descriptor: CInt, write: ((CInt, UnsafeRawBufferPointer) -> Int)? = nil) {
        self.path = path
        self.descriptor = descriptor
        self.write = write
    }

    deinit { close() }

    func append(_ bytes: ByteBuffer) throws {
        let number = bytes.withUnsafeReadableBytes { $0.writeAll(to: descriptor, write: write).failure }
        guard number == 0 else {
            // Later bytes must not continue a line that was written in part.
            truncate(to: size)
            throw fail(number)
        }
        size += bytes.readableBytes
    }

    func synchronize() throws(RecordingFileError) {
        guard fdatasync(descriptor) == 0 else { throw fail(errno) }
    }

    func truncate(to size: Int) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { return }
        // Otherwise the next bytes would come behind a gap of zeros.
        _ = lseek(descriptor, off_t(size), SEEK_SET)
        self.size = size
    }

    func close() {
        guard descriptor >= 0 else { return }
        _ = Glibc.close(descriptor)
        descriptor = -1
    }

    private func fail(_ number: CInt) -> RecordingFileError {
        let error = Self.error(number, path: path)
        failure = error
        return error
    }

    static func error(_ number: CInt, path: String) -> RecordingFileError {
        let isDiskFull = number == ENOSPC || number == EDQUOT
        let reason =
            switch number {
            case ENOSPC, EDQUOT: "the disk is full"
            case EACCES, EPERM: "permission denied"
            case EEXIST: "there is such a file already"
            default: String(cString: strerror(number))
            }
        return RecordingFileError(path: path, isDiskFull: isDiskFull, reason: reason)
    }
}
