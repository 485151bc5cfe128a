import Foundation
import MediaFiles

/// The program's output streams.
enum StandardStreams {
    /// Writes a command's result.
    static func write(_ text: String) throws(CommandFailure) {
        do {
            try OutputFile.writeToStandardOutput(Data(text.utf8))
        } catch {
            throw CommandFailure(.cannotCreate, error.description)
        }
    }

    /// Writes for people. What cannot be written is left out: there is no other place to tell of it.
    static func writeError(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}

/// The reason for which a command failed.
struct CommandFailure: Error, Hashable {
    var exit: Confrelay.Exit
    /// The messages, one line each.
    var messages: [String]

    init(_ exit: Confrelay.Exit, _ messages: String...) { self.init(exit, messages) }

    init(_ exit: Confrelay.Exit, _ messages: [String]) {
        self.exit = exit
        self.messages = messages
    }
}
