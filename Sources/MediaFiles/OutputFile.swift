public import Foundation

/// What programs write: whole files, and standard output.
public enum OutputFile {
    /// Creates or empties a file, so that an unusable path is noticed before a call and not after it.
    ///
    /// - Throws: `MediaFileError.cannotWrite`.
    public static func check(_ path: String) throws(MediaFileError) {
        try write(Data(), to: path)
    }

    /// Writes a whole file.
    ///
    /// - Throws: `MediaFileError.cannotWrite`.
    public static func write(_ data: Data, to path: String) throws(MediaFileError) {
        do {
            try data.write(to: URL(fileURLWithPath: path))
        } catch {
            throw .cannotWrite(path: path, reason: reason(error))
        }
    }

    /// Writes to standard output. A reader that is gone is an error where the program ignores SIGPIPE, and its end
    /// where it does not.
    ///
    /// - Throws: `MediaFileError.cannotWrite`.
    public static func writeToStandardOutput(_ text: Data) throws(MediaFileError) {
        do {
            try FileHandle.standardOutput.write(contentsOf: text)
        } catch {
            throw .cannotWrite(path: "standard output", reason: reason(error))
        }
    }

    /// Returns the reason for which a file cannot be written, for people.
    public static func reason(_ error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileNoSuchFile: return "its folder does not exist"
        case .fileWriteNoPermission: return "permission denied"
        case .fileWriteOutOfSpace: return "the disk is full"
        default: break
        }
        // Foundation has no words for the rest; the system has.
        let cause = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }
        guard let cause, cause.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
        return String(cString: strerror(Int32(clamping: cause.code)))
    }
}
