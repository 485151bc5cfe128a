import ArgumentParser
import Logging

/// The messages on standard error.
struct LoggingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Least severe messages to log: trace, debug, info, notice, warning, error or critical. (default: notice)",
            valueName: "level"),
        transform: Logger.Level.init(option:))
    var logLevel = Logger.Level.notice

    @Option(help: "Format of the log: text, or json with one object a line.")
    var logFormat = LogFormat.text
}
