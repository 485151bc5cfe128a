import Foundation
import Glibc
import Logging

/// A file that events are added to, a JSON object a line.
struct EventLog {
    private let path: String
    private let logger: Logger
    private var file: FileHandle
    /// Whether the log has said that the file cannot be written to.
    private var isFailing = false

    /// Opens or makes the file.
    init(path: String, logger: Logger) throws(StartupError) {
        self.path = path
        self.logger = logger
        file = try Self.open(path)
    }

    /// Opens the file of this name anew: what rotates logs has renamed the one that was written to.
    mutating func reopen() {
        do throws(StartupError) {
            file = try Self.open(path)
        } catch {
            logger.error("the event log goes on in its old file: \(error)")
        }
    }

    /// Adds a line, which has no line break in it.
    mutating func append(_ line: Data) {
        do {
            // With one call, so that lines of other programs do not come in between.
            try file.write(contentsOf: line + [0x0A])
            isFailing = false
        } catch {
            guard !isFailing else { return }
            isFailing = true
            logger.error(
                "the event log \(path) cannot be written to: \(error.localizedDescription); events are missing")
        }
    }

    private static func open(_ path: String) throws(StartupError) -> FileHandle {
        let descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else {
            throw .eventLogNotUsable(path: path, reason: String(cString: strerror(errno)))
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}
