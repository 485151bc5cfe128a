import Foundation

extension EtcdSettings {
    /// The password in a file's first line; nil: the file cannot be read, or its first line is empty.
    public static func password(in path: String) -> String? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let line = text.split(whereSeparator: \.isNewline).first, !line.isEmpty
        else { return nil }
        return String(line)
    }
}
