import Foundation

/// Files that a client writes.
enum OutputFile {
    /// Creates or empties a file, so that an unusable path is noticed before a call and not after it.
    ///
    /// - Throws: `ClientError.outputNotWritable`.
    static func check(_ path: String) throws(ClientError) {
        try write(Data(), to: path)
    }

    /// Writes a whole file.
    ///
    /// - Throws: `ClientError.outputNotWritable`.
    static func write(_ data: Data, to path: String) throws(ClientError) {
        do {
            try data.write(to: URL(fileURLWithPath: path))
        } catch {
            throw .outputNotWritable(path: path, reason: reason(error))
        }
    }

    /// Returns the reason for which a file cannot be written, for people.
    static func reason(_ error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileNoSuchFile: return "its folder does not exist"
        case .fileWriteNoPermission: return "permission denied"
        case .fileWriteOutOfSpace: return "the disk is full"
        default: return error.localizedDescription
        }
    }
}
