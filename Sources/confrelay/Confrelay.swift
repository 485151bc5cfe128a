import ArgumentParser
import Foundation
import Logging
import RelayServer
import ServiceLifecycle
import UnixSignals

/// The relay as a program: options in, one line when it listens, exit codes out. `confrelay layout` looks at layouts,
/// `confrelay calibrate` at the machine.
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
    }

    /// The time that requests in progress have to end after a signal.
    private static let shutdownDuration = Duration.seconds(1)

    static func main() async {
        do {
            let command = try parse(Array(CommandLine.arguments.dropFirst()))
            guard let serving = command as? ConfrelayCommand else { try exit(after: command) }
            startLogging(serving.logging)
            let (code, message) = await serve(serving.serverConfiguration)
            exit(code, message)
        } catch {
            // Help and version are asked for, not failures.
            if ConfrelayCommand.exitCode(for: error) == .success { ConfrelayCommand.exit(withError: error) }
            exit(.usage, ConfrelayCommand.message(for: error) + " (see confrelay --help)")
        }
    }

    /// Parses the arguments. The relay's options must not be accepted by the other commands, which have some options of
    /// the same names: so these are no subcommands of the parser's kind, whose options are accepted at any place.
    static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        switch arguments.first {
        case "layout": try LayoutCommand.parseAsRoot(Array(arguments.dropFirst()))
        case "calibrate": try CalibrateCommand.parseAsRoot(Array(arguments.dropFirst()))
        default: try ConfrelayCommand.parseAsRoot(arguments)
        }
    }

    /// Runs a command that ends by itself.
    private static func exit(after command: any ParsableCommand) throws -> Never {
        var command = command
        do {
            try command.run()
        } catch let failure as CommandFailure {
            for message in failure.messages { writeError(message) }
            Foundation.exit(failure.exit.rawValue)
        }
        exit(.success)
    }

    private static func serve(_ configuration: RelayServerConfiguration) async -> (Exit, String?) {
        let logger = Logger(label: "confrelay")
        do {
            let server = try await RelayServer.bind(configuration, logger: logger) { endpoint in
                StandardStreams.write("\(endpoint)\n")
            }
            var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
                .init(service: server, successTerminationBehavior: .gracefullyShutdownGroup)
            ]
            if configuration.tls != nil {
                services.append(.init(service: HangupService(server: server), successTerminationBehavior: .ignore))
            }
            var group = ServiceGroupConfiguration(
                services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
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

    private static func exit(for error: StartupError) -> Exit {
        switch error {
        case .folderNotUsable: .cannotCreate
        case .certificateNotUsable, .keyNotUsable, .keyDoesNotFit, .imagesNotUsable: .noInput
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
