import Foundation

/// The program's output streams.
enum StandardStreams {
    static func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
    static func writeError(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
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
