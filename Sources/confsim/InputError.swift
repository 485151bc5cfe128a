import ArgumentParser
import Foundation

/// What stops a run other than wrong usage.
enum InputError {
    /// One line on standard error and exit code 66 (`EX_NOINPUT`).
    static func unusable(_ message: String) -> any Error { fail(message, code: 66) }

    /// One line on standard error and exit code 73 (`EX_CANTCREAT`).
    static func unwritable(_ message: String) -> any Error { fail(message, code: 73) }

    /// A line on standard error about something that stops nothing.
    static func note(_ message: String) {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
    }

    private static func fail(_ message: String, code: Int32) -> any Error {
        note("Error: \(message)")
        return ExitCode(code)
    }
}
