import ArgumentParser
import Logging
import RelayServer

/// `confrelay config`: looks at a file of options without serving anything.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confrelay config",
        abstract: "Check or print the options of a file (--config) and of the command line.",
        discussion: """
            confrelay config print > confrelay.yaml begins a file: every option, its meaning and its default.
            """,
        subcommands: [ConfigCheckCommand.self, ConfigPrintCommand.self])
}

/// Says whether the relay would start with these options.
struct ConfigCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say whether the relay would start with these options, as far as that shows without the port.",
        usage: "confrelay config check [<file>] [<options of confrelay> ...]",
        discussion: """
            Reads what the options name, too: certificates and their keys, those for etcd included, keys of tokens, \
            servers, images. Sees if folders and the event log can be written to by this user.

            Exit codes: 0 they are fine; 64 an option of the command line is wrong; 66 a file cannot be read or used; \
            73 a folder or the event log cannot be written to; 78 the file of options is wrong.
            """)

    @Argument(parsing: .allUnrecognized, help: "The file, and options of confrelay, which win over it.")
    var arguments: [String] = []

    func run() throws {
        let read = try RelayArguments(relayOptions: arguments)
        guard let command = try read.parse() as? ConfrelayCommand else { return }
        do throws(StartupError) {
            try RelayServer.check(command.serverConfiguration, logger: Logger(label: "confrelay"))
        } catch {
            throw CommandFailure(Confrelay.exit(for: error), error.description)
        }
        let count = DeclaredOption.all.count(where: { read.values(of: $0).source != .default })
        let options = "\(count) option\(count == 1 ? "" : "s")"
        try StandardStreams.write("\(read.file?.path ?? "the command line"): fine, sets \(options)\n")
    }
}

/// Prints every option.
struct ConfigPrintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "print",
        abstract: "Print every option with its meaning and the value that holds, as a file for --config.",
        usage: "confrelay config print [--json] [<file>] [<options of confrelay> ...]")

    @Flag(help: "Print JSON: each option with its values and where they come from.")
    var json = false

    @Argument(parsing: .allUnrecognized, help: "The file, and options of confrelay, which win over it.")
    var arguments: [String] = []

    func run() throws {
        let read = try RelayArguments(relayOptions: arguments)
        _ = try read.parse()
        let listing = OptionListing(arguments: read)
        try StandardStreams.write(json ? listing.json() : listing.yaml)
    }
}

extension RelayArguments {
    /// Options of the relay, of which the first may be a file's name alone.
    fileprivate init(relayOptions arguments: [String]) throws(CommandFailure) {
        let isFile = arguments.first.map { !$0.hasPrefix("-") } ?? false
        try self.init((isFile ? ["--config"] : []) + arguments)
    }
}
