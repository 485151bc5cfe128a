import ArgumentParser

@main
struct ConfClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confclient",
        abstract: "Test clients for confrelay: join and measure calls, load a relay, change layouts, play files.",
        discussion: """
            Exit codes: 0 done; 64 an option is wrong; 66 an input file cannot be used; 69 the relay cannot be reached \
            or trusted, refused, disappeared or has nothing to stop; 70 a codec or the system failed; 74 an output \
            file cannot be written; 75 no media arrived; 130 or 143 ended at once by SIGINT or SIGTERM: by the second \
            one, or before the session.
            """,
        subcommands: [
            JoinCommand.self, LoadCommand.self, LayoutCommand.self, ModerateCommand.self, RecordCommand.self,
            PlayerCommand.self, PlayCommand.self,
        ])
}
