import ArgumentParser

@main
struct Confsim: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confsim",
        abstract: "Runs the relay's rate control on simulated networks, on virtual time.",
        discussion: """
            Exit codes: 0 done, 1 a recorded controller decides otherwise (record-replay), 64 wrong usage, 66 an input \
            that cannot be read or understood, 73 an output that cannot be written.
            """,
        subcommands: [
            Replay.self, Run.self, Compare.self, SensitivityCommand.self, RoomCommand.self, RecordReplay.self,
            Traces.self,
        ])
}
