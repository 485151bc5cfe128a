import Foundation
import MediaFiles

/// JSON files for scripts: indented, keys in order.
public enum JSONFile {
    /// Creates or empties the file, so that an unusable path is noticed at the start.
    ///
    /// - Throws: `ClientError.outputNotWritable`.
    public static func check(_ path: String) throws(ClientError) {
        try ClientError.rethrowing { () throws(MediaFileError) in try OutputFile.check(path) }
    }

    /// Writes a value.
    ///
    /// - Throws: `ClientError.outputNotWritable`.
    public static func write(_ value: some Encodable, to path: String) throws(ClientError) {
        let data = Data((try text(of: value, path: path) + "\n").utf8)
        try ClientError.rethrowing { () throws(MediaFileError) in try OutputFile.write(data, to: path) }
    }

    /// A value as such a file holds it, without the last line feed.
    ///
    /// - Throws: `ClientError.outputNotWritable`.
    public static func text(of value: some Encodable, path: String = "standard output") throws(ClientError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            throw .outputNotWritable(path: path, reason: "\(error)")
        }
    }
}
