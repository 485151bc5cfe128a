import ConferenceClient
import Foundation
import MediaFiles

/// Writes for people: a status that renews itself on a terminal, lines elsewhere.
struct Terminal: Sendable {
    private let isQuiet: Bool
    private let isInteractive: Bool

    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
        isInteractive = isatty(STDERR_FILENO) == 1
    }

    /// Shows the result of `line` until the task is cancelled: four times a second on a terminal, otherwise every five
    /// seconds on a line of its own.
    func show(_ line: @Sendable () async throws -> String) async {
        guard !isQuiet else { return }
        while (try? await Task.sleep(for: isInteractive ? .milliseconds(250) : .seconds(5))) != nil {
            guard let text = try? await line() else { break }
            if isInteractive {
                Self.write("\r\u{1B}[K" + String(text.prefix(Self.width() - 1)))
            } else {
                Self.write(text + "\n")
            }
        }
        if isInteractive { Self.write("\r\u{1B}[K") }
    }

    /// Writes the summary to standard output, or to standard error where the statistics have standard output.
    ///
    /// - Throws: `ClientError.outputNotWritable`.
    func summarize(_ lines: [String], besides statistics: StatisticsOutput? = nil) throws(ClientError) {
        guard !isQuiet else { return }
        for line in lines {
            if statistics == .standardOutput { Self.write(line + "\n") } else { try Self.output(line) }
        }
    }

    /// Writes a result that was asked for to standard output, on lines of its own.
    ///
    /// - Throws: `ClientError.outputNotWritable`.
    static func output(_ text: String) throws(ClientError) {
        do {
            try OutputFile.writeToStandardOutput(Data((text + "\n").utf8))
        } catch {
            throw ClientError(error)
        }
    }

    /// Writes a result as JSON, for programs and people.
    static func output(json value: some Encodable) throws {
        try output(JSONFile.text(of: value))
    }

    /// Writes the failure to standard error.
    func fail(_ reason: String) {
        Self.write("confclient: \(reason)\n")
    }

    private static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    private static func width() -> Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 20 else { return 200 }
        return Int(size.ws_col)
    }
}
