import ArgumentParser
import Foundation
import Logging
import RelayServer
import ServiceLifecycle
import UnixSignals

/// The relay as a program: options in, one line when it listens, exit codes out. `confrelay layout` looks at layouts,
/// `confrelay calibrate` at the machine; `confrelay key` and `confrelay token` make keys and tokens.
@main
enum Confrelay {
    /// The exit codes of the program, after `sysexits.h`, as `docs/confrelay.md` lists them.
    enum Exit: Int32 {
        case success = 0
        case usage = 64
        case dataError = 65
        case noInput = 66
        case unavailable = 69
        case internalFailure = 70
        case cannotCreate = 73
        case configuration = 78
        /// As shells have it of a program that SIGINT ended.
        case cancelled = 130
    }

    /// The time that requests in progress have to end after a signal.
    private static let shutdownDuration = Duration.seconds(1)

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            let command = try parse(arguments)
            guard let serving = command as? ConfrelayCommand else { try await exit(after: command) }
            startLogging(serving.logging)
            let (code, message) = await serve(serving.serverConfiguration, drain: serving.operation.drain)
            exit(code, message)
        } catch let failure as CommandFailure {
            exit(for: failure)
        } catch {
            let command = commandType(of: arguments)
            // Help and version are asked for, not failures.
            if command.exitCode(for: error) == .success { command.exit(withError: error) }
            exit(.usage, command.message(for: error) + " (see \(helped(arguments, by: command)) --help)")
        }
    }

    /// Parses the arguments. The relay's options must not be accepted by the other commands, which have some options of
    /// the same names: so these are no subcommands of the parser's kind, whose options are accepted at any place.
    static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        let command = commandType(of: arguments)
        guard command != ConfrelayCommand.self else { return try RelayArguments(arguments).parse() }
        return try command.parseAsRoot(Array(arguments.dropFirst()))
    }

    private static func commandType(of arguments: [String]) -> any ParsableCommand.Type {
        switch arguments.first {
        case "layout": LayoutCommand.self
        case "config": ConfigCommand.self
        case "archive": ArchiveCommand.self
        case "token": TokenCommand.self
        case "key": KeyCommand.self
        case "cluster": ClusterCommand.self
        case "calibrate": CalibrateCommand.self
        default: ConfrelayCommand.self
        }
    }

    /// The command whose help has what arguments may be: of one with subcommands, the subcommand's.
    private static func helped(_ arguments: [String], by command: any ParsableCommand.Type) -> String {
        let name = command.configuration.commandName ?? "confrelay"
        let subcommands = command.configuration.subcommands.compactMap { $0.configuration.commandName }
        guard arguments.count > 1, subcommands.contains(arguments[1]) else { return name }
        return "\(name) \(arguments[1])"
    }

    /// Runs a command that ends by itself.
    private static func exit(after command: any ParsableCommand) async throws -> Never {
        var command = command
        if var asynchronous = command as? any AsyncParsableCommand {
            try await asynchronous.run()
        } else {
            try command.run()
        }
        exit(.success)
    }

    private static func exit(for failure: CommandFailure) -> Never {
        for message in failure.messages { writeError(message) }
        Foundation.exit(failure.exit.rawValue)
    }

    private static func serve(
        _ configuration: RelayServerConfiguration, drain: Duration
    ) async -> (Exit, String?) {
        let logger = Logger(label: "confrelay")
        // One that comes before `HangupService` runs is ignored.
        signal(SIGHUP, SIG_IGN)
        // The reader of the log may go away: an error of a write, not the end of the calls.
        signal(SIGPIPE, SIG_IGN)
        do {
            let server = try await RelayServer.bind(configuration, logger: logger) { endpoint in
                try? StandardStreams.write("\(endpoint)\n")
            }
            // Before anybody hears that the relay listens: who does may end it at once.
            let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
            let services: [ServiceGroupConfiguration.ServiceConfiguration] = [
                .init(service: server, successTerminationBehavior: .gracefullyShutdownGroup),
                .init(
                    service: StopService(server: server, signals: signals, drain: drain),
                    successTerminationBehavior: .gracefullyShutdownGroup),
                .init(service: HangupService(server: server), successTerminationBehavior: .ignore),
            ]
            var group = ServiceGroupConfiguration(services: services, logger: logger)
            group.maximumGracefulShutdownDuration = shutdownDuration
            try await ServiceGroup(configuration: group).run()
            return (.success, nil)
        } catch is CancellationError {
            // Some request did not end in time and was cut off.
            return (.success, nil)
        } catch let error as StartupError {
            return (exit(for: error), error.description)
        } catch {
            return (.internalFailure, "\(error)")
        }
    }

    static func exit(for error: StartupError) -> Exit {
        switch error {
        case .folderNotUsable, .recordingsNotUsable, .webhookQueueNotUsable, .eventLogNotUsable: .cannotCreate
        case .certificateNotUsable, .keyNotUsable, .keyDoesNotFit, .imagesNotUsable, .accessKeysNotUsable,
            .clusterNotUsable:
            .noInput
        case .tooFewOpenFiles, .tooLittleAddressSpace: .usage
        default: .unavailable
        }
    }

    private static func startLogging(_ options: LoggingOptions) {
        LoggingSystem.bootstrap { label in
            var handler: any LogHandler =
                switch options.logFormat {
                case .text: StreamLogHandler.standardError(label: label)
                case .json: JSONLogHandler(label: label)
                }
            handler.logLevel = options.logLevel
            return handler
        }
    }

    private static func exit(_ code: Exit, _ message: String? = nil) -> Never {
        if let message { writeError(message) }
        Foundation.exit(code.rawValue)
    }

    /// Writes an error as one line.
    private static func writeError(_ message: String) {
        let line = message.split(whereSeparator: \.isNewline).joined(separator: " ")
        StandardStreams.writeError("confrelay: \(line)\n")
    }
}

/// Has files read again on SIGHUP, as certificate tools ask servers to. Without such files a relay must not end on it,
/// either: a service manager sends it to any relay that it is to reload.
struct HangupService: Service {
    let server: RelayServer

    func run() async {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() { await server.reloadFiles() }
    }
}
