import ArgumentParser

@main
struct ConfClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confclient",
        abstract: "Test clients for confrelay: join a room, record, measure, load and lay it out; and play files.",
        discussion: """
            Exit codes: 0 the session went well; 64 bad option; 66 an input file cannot be used; 69 the relay cannot be \
            reached, refused or went away; 70 a codec or the system failed; 74 an output file cannot be written; \
            75 no media arrived.
            """,
        subcommands: [JoinCommand.self, LoadCommand.self, LayoutCommand.self, PlayCommand.self])
}
