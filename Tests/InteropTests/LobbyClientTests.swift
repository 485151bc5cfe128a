import Foundation
import Testing

/// `confclient` in a room with a lobby.
@Suite struct LobbyClientTests {
    /// A room with a lobby, in which Ada moderates.
    private struct Room {
        let url: String
        let relay: RelayProgram
        let ada: ChildProcess
        let moderate: (String...) async throws -> String
    }

    private let folder: TemporaryFolder
    private let silent = ["--video", "none", "--audio", "none"]

    init() throws {
        folder = try TemporaryFolder()
    }

    private func client(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(Programs.product("confclient"), arguments, in: folder)
    }

    private func begin() async throws -> Room {
        let relay = try await RelayProgram(in: folder)
        let url = relay.url("/rooms/demo")
        let ada = try client(["join", url, "--name", "Ada"] + silent)
        let key = try await eventually("Ada has the key: \(ada.errors)", within: .seconds(20)) {
            ada.output.firstMatch(of: #/moderator's key: (\S+)/#).map { String($0.1) }
        }
        func moderate(_ action: String...) async throws -> String {
            let command = try client(["moderate", url, "--token", key] + action)
            #expect(try await command.end(within: .seconds(20)) == 0, "\(command.errors)")
            return command.output
        }
        _ = try await moderate("lobby-on")
        return Room(url: url, relay: relay, ada: ada, moderate: moderate)
    }

    @Test("a client that is interrupted in the lobby gives its place up, and ends as shells have it of a signal")
    func interrupted() async throws {
        let room = try await begin()
        for (signal, code) in [(SIGINT, Int32(130)), (SIGTERM, 143)] {
            let ben = try client(["join", room.url, "--name", "Ben"] + silent)
            try await eventually("Ben waits: \(ben.errors)", within: .seconds(20)) {
                ben.errors.contains("waiting until a moderator") ? true : nil
            }
            #expect(try await room.moderate("lobby").contains("Ben"))
            ben.signal(signal)
            #expect(try await ben.end(within: .seconds(20)) == code)
            #expect(try await room.moderate("lobby") == "")
        }
    }

    @Test("a load that is interrupted while it joins leaves nobody in the room and none of its places in the lobby")
    func interruptedLoad() async throws {
        let room = try await begin()
        let load = try client(["load", room.url, "--count", "2"] + silent)
        func waits(_ name: String) async throws {
            try await eventually("\(name) waits: \(load.errors)", within: .seconds(20)) {
                try await room.moderate("lobby").contains(name) ? true : nil
            }
        }
        try await waits("Load 1")
        _ = try await room.moderate("admit", "Load 1")
        try await waits("Load 2")
        load.signal(SIGINT)
        #expect(try await load.end(within: .seconds(20)) == 130)
        #expect(load.errors.contains("waiting until a moderator"), "\(load.errors)")
        #expect(try await room.moderate("lobby") == "")
        #expect(try await room.relay.room("demo")?.participants.map(\.name) == ["Ada"])
    }
}
