import Logging
import Synchronization

final class LogLines: Sendable {
    let texts = Mutex<[String]>([])
}

/// Collects the log messages.
struct LogCollector: LogHandler {
    let lines: LogLines
    var logLevel = Logger.Level.trace
    var metadata = Logger.Metadata()

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.texts.withLock { $0.append("\(event.level): \(event.message)") }
    }
}
