import ArgumentParser

@main
struct ConfClient: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "confclient")
}
