import Foundation

/// The text files that options name.
package enum TextFile {
    /// A file cannot be read.
    package struct Unreadable: Error {
        package let reason: String
        /// True if there are bytes, but no such text.
        package var isNoText = false
    }

    /// Files of options and keys are some hundred lines long; larger ones are mistakes.
    private static let sizeLimit = 1_000_000

    /// Reads a whole file, which may be a pipe (`<(pass show turn)`).
    package static func text(of path: String) throws(Unreadable) -> String {
        guard !path.isEmpty else { throw Unreadable(reason: "its name is empty") }
        var bytes = Data()
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            // A read of a pipe returns the bytes that are there, which may be the first part.
            while bytes.count <= sizeLimit, let part = try file.read(upToCount: sizeLimit + 1 - bytes.count),
                !part.isEmpty
            {
                bytes.append(part)
            }
        } catch {
            throw Unreadable(reason: reason(error))
        }
        guard bytes.count <= sizeLimit else { throw Unreadable(reason: "it has more than 1 MB", isNoText: true) }
        guard let text = String(data: bytes, encoding: .utf8) else {
            throw Unreadable(reason: "it is no text in UTF-8", isNoText: true)
        }
        return text
    }

    /// Returns true for a pipe: its bytes can be read only once.
    package static func isPipe(_ path: String) -> Bool {
        // A pipe of the shell is a link of /proc that leads to no path.
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let type = try? FileManager.default.attributesOfItem(atPath: file)[.type] as? FileAttributeType
        return FileManager.default.fileExists(atPath: path) && [.typeUnknown, .typeSymbolicLink].contains(type)
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
