import FlightFiles
import Foundation
import Glibc
import Logging

/// A file that events are added to, a JSON object a line.
struct EventLog {
    private let path: String
    private let logger: Logger
    var file: FileHandle
    /// True if the log has said that the file cannot be written to.
    private var isFailing = false
    /// True if the file ends in the middle of a line, because a write failed.
    private var isTorn = false

    /// Opens or makes the file.
    init(path: String, logger: Logger) throws(StartupError) {
        self.path = path
        self.logger = logger
        file = try Self.open(path)
    }

    /// Opens the file of this name anew: what rotates logs has renamed the one that was written to.
    mutating func reopen() {
        // The new file is to begin with an event, not with the end of a line of the old one.
        if isTorn, write(Data([0x0A])).failure == 0 { isTorn = false }
        do throws(StartupError) {
            file = try Self.open(path)
        } catch {
            logger.error("the event log goes on in its old file: \(error)")
        }
    }

    /// Adds a line, which has no line break in it.
    mutating func append(_ line: Data) {
        // A line that was written in part stays one of its own.
        var bytes: Data = line + [0x0A]
        if isTorn { bytes.insert(0x0A, at: bytes.startIndex) }
        // One call if possible, so that lines of other programs do not come in between.
        let (count, failure) = write(bytes)
        if count > 0 { isTorn = bytes[bytes.startIndex + count - 1] != 0x0A }
        guard failure != 0 else {
            isFailing = false
            return
        }
        guard !isFailing else { return }
        isFailing = true
        logger.error(
            "the event log \(path) cannot be written to: \(String(cString: strerror(failure))); events are missing")
    }

    private func write(_ bytes: Data) -> (count: Int, failure: CInt) {
        bytes.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in bytes.writeAll(to: file.fileDescriptor) }
    }

    private static func open(_ path: String) throws(StartupError) -> FileHandle {
        let descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else {
            throw .eventLogNotUsable(path: path, reason: String(cString: strerror(errno)))
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}
