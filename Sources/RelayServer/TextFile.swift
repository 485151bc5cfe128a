import Foundation

/// The text files that options name.
package enum TextFile {
    /// A file cannot be read.
    package struct Unreadable: Error {
        package let reason: String
    }

    /// Reads a whole file.
    package static func text(of path: String) throws(Unreadable) -> String {
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw Unreadable(reason: reason(error))
        }
    }

    /// The reason for which a file cannot be read, for people: the system's library names an operation and a number.
    package static func reason(_ error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile: "there is no such file"
        case .fileReadNoPermission: "this user may not read it"
        case .fileReadUnknown: "it is a folder, or its disk fails"
        case .fileReadCorruptFile: "it is no text in UTF-8"
        default: error.localizedDescription
        }
    }
}
