import ArgumentParser
import RoomAPI

/// The subcommands on layouts without a room.
struct LayoutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confrelay layout", abstract: "Look at layouts without a room.",
        subcommands: [LayoutExplainCommand.self, LayoutListCommand.self])
}

/// Names the layouts that are built in.
struct LayoutListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the layouts that are built in.")

    /// A line for each.
    var text: String {
        let width = LayoutMode.Name.builtIn.map(\.rawValue.count).max() ?? 0
        return LayoutMode.Name.builtIn.map { layout in
            layout.rawValue + String(repeating: " ", count: width - layout.rawValue.count + 2) + layout.summary + "\n"
        }.joined()
    }

    func run() throws { StandardStreams.write(text) }
}
