import Foundation
import Glibc
import Testing

/// docs/examples/room-client.py and aiortc-client.py.
@Suite(
    "The Python clients of the documents", .serialized,
    .enabled(if: Programs.areInstalled("python3"), "python3 is not installed"))
struct ExampleClientTests {
    private static let examples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("docs/examples")

    private func run(_ arguments: [String], in folder: TemporaryFolder) throws -> ChildProcess {
        let script = Self.examples.appendingPathComponent("room-client.py")
        return try ChildProcess(#require(Programs.installed("python3")), [script.path] + arguments, in: folder)
    }

    @Test(
        "aiortc joins with a token, is decoded and gets the room's picture; without one it is told why it may not",
        .enabled(if: Programs.pythonWithAiortc != nil, "aiortc cannot be installed"))
    func aiortc() async throws {
        struct Received: Decodable { var frames: Int }
        let folder = try TemporaryFolder()
        func output(of arguments: [String]) async throws -> String {
            let program = try ChildProcess(Programs.product("confrelay"), arguments, in: folder)
            #expect(try await program.end(within: .seconds(20)) == 0, "\(program.errors)")
            return program.output
        }
        let keys = folder.file("keys.json")
        try Data(await output(of: ["key"]).utf8).write(to: keys)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keys.path)
        let token = try await output(of: ["token", "--auth-keys", keys.path, "--room", "demo", "--valid", "1h"])
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let relay = try await RelayProgram(
            ["--auth-keys", keys.path, "--canvas", "320x180", "--frame-rate", "10"], in: folder)
        func join(_ more: [String]) throws -> ChildProcess {
            let script = Self.examples.appendingPathComponent("aiortc-client.py").path
            return try ChildProcess(
                #require(Programs.pythonWithAiortc), [script, relay.url(""), "demo", "--seconds", "8"] + more,
                in: folder)
        }
        let stranger = try join([])
        #expect(try await stranger.end(within: .seconds(30)) == 1)
        #expect(stranger.errors.contains("401: this relay takes a token"), "\(stranger.errors)")
        let client = try join(["--token", token])
        #expect(try await client.end(within: .seconds(60)) == 0, "\(client.errors)")
        #expect(try JSONDecoder().decode(Received.self, from: Data(client.output.utf8)).frames > 10)
    }

    @Test("shows a room, lays it out, and tells what happens until it is closed")
    func call() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(["--canvas", "320x180", "--frame-rate", "10"], in: folder)
        let nobody = try run([relay.url(""), "demo"], in: folder)
        #expect(try await nobody.end(within: .seconds(20)) == 1)
        #expect(nobody.errors.contains("there is no room \"demo\""))

        let people = try ["Ada", "Ben"].map { name in
            try ChildProcess(
                Programs.product("confclient"),
                ["join", relay.url("/rooms/demo"), "--name", name, "--size", "160x90", "--frame-rate", "5", "--quiet"],
                in: folder)
        }
        for name in ["Ada", "Ben"] {
            try await relay.participant(name, in: "demo") { $0.uplink.framesDecoded > 0 }
        }
        let state = try run([relay.url(""), "demo"], in: folder)
        #expect(try await state.end(within: .seconds(20)) == 0)
        #expect(state.output.contains("Ada: sends ") && state.output.contains("320x180"), "\(state.output)")

        let follower = try run([relay.url(""), "demo", "--layout", "speaker", "--follow"], in: folder)
        try await eventually("it follows: \(follower.errors)", within: .seconds(20)) {
            follower.output.contains("layout: speaker") ? true : nil
        }
        for person in people {
            person.signal(SIGINT)
            _ = try await person.end(within: .seconds(20))
        }
        #expect(try await follower.end(within: .seconds(20)) == 0)
        #expect(follower.output.contains("Ada left") && follower.output.contains("the room is closed"))
    }
}
