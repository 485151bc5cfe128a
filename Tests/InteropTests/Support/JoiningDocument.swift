import Foundation
import Testing

/// The commands in `docs/joining.md`: its fenced blocks, each under the name behind `bash`.
struct JoiningDocument {
    private(set) var blocks: [(name: String, text: String)] = []
    private let text: String

    init() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        text = try String(contentsOf: root.appendingPathComponent("docs/joining.md"), encoding: .utf8)
        for match in text.matches(of: #/(?m)^```bash *([^\n]*)\n((?s).*?)^```$/#) {
            blocks.append((String(match.1), String(match.2)))
        }
    }

    func block(_ name: String) throws -> String {
        try #require(blocks.first { $0.name == name }, "docs/joining.md has no block 'bash \(name)'").text
    }
}

/// A run of blocks of `docs/joining.md`, one after the other in one shell.
struct JoiningScript {
    let child: ChildProcess
    private let roomFile: URL

    /// - Parameter time: How long the commands stay, in seconds.
    init(_ names: [String], relay: RelayProgram, room: String, time: Int, in folder: TemporaryFolder) throws {
        let document = try JoiningDocument()
        var commands = try (["variables"] + names).map(document.block)
        if names.last == "leave" {
            commands.insert("curl -sS --fail-with-body -o room.json \"$RELAY/rooms/$ROOM\"", at: commands.count - 1)
        }
        roomFile = folder.file("room.json")
        let script = folder.file("joining.sh")
        try commands.joined(separator: "\n").write(to: script, atomically: true, encoding: .utf8)
        let ports = try FreePorts.pairs(2)
        child = try ChildProcess(
            #require(Programs.installed("bash")), ["-eu", "-o", "pipefail", script.path],
            environment: [
                "PATH": Programs.searchPath, "PORT": "\(relay.port)", "ROOM": room, "TIME": "\(time)",
                "VIDEO_PORT": "\(ports[0])", "AUDIO_PORT": "\(ports[1])",
            ],
            in: folder)
    }

    /// The room's state when the commands had run, and nobody had left yet.
    func roomBeforeLeaving() throws -> RoomState {
        try JSONDecoder().decode(RoomState.self, from: Data(contentsOf: roomFile))
    }

    /// Waits for its end, which has to be without an error.
    func finish(within limit: Duration) async throws {
        let code = try await child.end(within: limit)
        try #require(code == 0, "the commands of docs/joining.md ended with \(code): \(child.errors)")
    }
}
