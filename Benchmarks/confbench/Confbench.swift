import ArgumentParser
import Foundation

/// Measures the package's costs and results.
@main
struct Confbench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confbench",
        abstract: "Measures what the package costs and what it gives.",
        subcommands: [
            CapacityCommand.self, ComposeCommand.self, ConferenceCommand.self, DecodingCommand.self,
            EncodersCommand.self, JoiningCommand.self, PassesCommand.self, QualityCommand.self, SessionsCommand.self,
            SharingCommand.self, SimulatorCommand.self,
        ],
        defaultSubcommand: ConferenceCommand.self)

    static func main() async {
        Interruption.endProgramsWithThisOne()
        await main(nil)
    }
}

/// Prints progress on standard error.
enum Progress {
    static func say(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("confbench: \(text)\n".utf8))
    }
}
