import ArgumentParser

/// The relay's start and stop.
struct OperationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read options from this YAML file; the command line wins.",
            discussion: """
                Its keys are these options without dashes. confrelay config print begins such a file, confrelay config \
                check looks at one.
                """, valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "How long calls may go on after SIGTERM or SIGINT, such as 30s, 5m or 2h. (default: off)",
            discussion: """
                Joins are refused meanwhile. The relay ends when all rooms are empty, at the latest after this time, \
                or at a second signal.
                """, valueName: "time"),
        transform: Duration.init(drain:))
    var drain = Duration.zero
}
