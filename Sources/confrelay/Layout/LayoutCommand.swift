import ArgumentParser
import RoomAPI

/// The subcommands on layouts without a room.
struct LayoutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confrelay layout", abstract: "Show layouts without a room.",
        subcommands: [LayoutExplainCommand.self, LayoutListCommand.self])
}

/// Lists the built-in layouts.
struct LayoutListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the built-in layouts.")

    /// A line for each.
    var text: String {
        let width = LayoutMode.Name.builtIn.map(\.rawValue.count).max() ?? 0
        return LayoutMode.Name.builtIn.map { layout in
            layout.rawValue + String(repeating: " ", count: width - layout.rawValue.count + 2) + layout.summary + "\n"
        }.joined()
    }

    func run() throws { try StandardStreams.write(text) }
}
