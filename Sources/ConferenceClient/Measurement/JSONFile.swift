import Foundation

/// JSON files for scripts: indented, keys in order.
public enum JSONFile {
    /// Creates or empties the file, so that an unusable path is noticed at the start.
    ///
    /// - Throws: `ClientError.outputNotWritable`.
    public static func check(_ path: String) throws(ClientError) {
        try OutputFile.check(path)
    }

    /// Writes a value.
    ///
    /// - Throws: `ClientError.outputNotWritable`.
    public static func write(_ value: some Encodable, to path: String) throws(ClientError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data: Data
        do {
            data = try encoder.encode(value)
        } catch {
            throw .outputNotWritable(path: path, reason: "\(error)")
        }
        try OutputFile.write(data + Data("\n".utf8), to: path)
    }
}
