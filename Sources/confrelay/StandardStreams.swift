import Foundation

/// What the program writes to.
enum StandardStreams {
    static func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
    static func writeError(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}

/// Why a command ends without having done what was asked.
struct CommandFailure: Error, Hashable {
    var exit: Confrelay.Exit
    /// One line each.
    var messages: [String]

    init(_ exit: Confrelay.Exit, _ messages: String...) { self.init(exit, messages) }

    init(_ exit: Confrelay.Exit, _ messages: [String]) {
        self.exit = exit
        self.messages = messages
    }
}
