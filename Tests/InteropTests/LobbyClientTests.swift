import Foundation
import Testing

/// `confclient` in a room with a lobby.
@Suite struct LobbyClientTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func client(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(Programs.product("confclient"), arguments, in: folder)
    }

    @Test("a client that is interrupted in the lobby gives its place up, and ends as shells have it of a signal")
    func interrupted() async throws {
        let relay = try await RelayProgram(in: folder)
        let room = relay.url("/rooms/demo")
        let silent = ["--video", "none", "--audio", "none"]
        let ada = try client(["join", room, "--name", "Ada"] + silent)
        let key = try await eventually("Ada has the key: \(ada.errors)", within: .seconds(20)) {
            ada.output.firstMatch(of: #/moderator's key: (\S+)/#).map { String($0.1) }
        }
        func moderate(_ action: String...) async throws -> String {
            let command = try client(["moderate", room, "--token", key] + action)
            #expect(try await command.end(within: .seconds(20)) == 0, "\(command.errors)")
            return command.output
        }
        _ = try await moderate("lobby-on")
        for (signal, code) in [(SIGINT, Int32(130)), (SIGTERM, 143)] {
            let ben = try client(["join", room, "--name", "Ben"] + silent)
            try await eventually("Ben waits: \(ben.errors)", within: .seconds(20)) {
                ben.errors.contains("waiting until a moderator") ? true : nil
            }
            #expect(try await moderate("lobby").contains("Ben"))
            ben.signal(signal)
            #expect(try await ben.end(within: .seconds(20)) == code)
            #expect(try await moderate("lobby") == "")
        }
    }
}
