import Foundation
import Logging
import RelayServer
import RoomAPI

/// Writes each log message to standard error as one JSON object on one line.
struct JSONLogHandler: LogHandler {
    var logLevel = Logger.Level.notice
    var metadata = Logger.Metadata()
    var metadataProvider: Logger.MetadataProvider?
    private let label: String

    init(label: String) {
        self.label = label
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata
        fields.merge(metadataProvider?.get() ?? [:]) { $1 }
        fields.merge(event.metadata ?? [:]) { $1 }
        let line = Line(
            time: Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            level: event.level.rawValue, label: label, message: "\(event.message)",
            metadata: fields.isEmpty ? nil : fields.mapValues { "\($0)" })
        guard var data = try? JSONEncoder.compact.encode(line) else { return }
        data.append(0x0A)
        // A log that cannot be written, such as on a full disk, is no reason to end calls.
        try? FileHandle.standardError.write(contentsOf: data)
    }

    private struct Line: Encodable {
        var time: String
        var level: String
        var label: String
        var message: String
        var metadata: [String: String]?
    }
}
