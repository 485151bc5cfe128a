import ArgumentParser
import Foundation

/// Errors that stop a run, other than wrong usage.
enum InputError {
    /// Reports an error in an input: one line on standard error and exit code 66 (`EX_NOINPUT`).
    static func unusable(_ message: String) -> any Error { fail(message, code: 66) }

    /// Reports an error in an output: one line on standard error and exit code 73 (`EX_CANTCREAT`).
    static func unwritable(_ message: String) -> any Error { fail(message, code: 73) }

    /// Writes a line to standard error about something that does not stop the run.
    static func note(_ message: String) {
        try? FileHandle.standardError.write(contentsOf: Data("\(message)\n".utf8))
    }

    private static func fail(_ message: String, code: Int32) -> any Error {
        note("Error: \(message)")
        return ExitCode(code)
    }
}
