import Foundation
import Glibc
import Testing

/// docs/examples/room-client.py.
@Suite(
    "The Python client of the documents", .serialized,
    .enabled(if: Programs.areInstalled("python3"), "python3 is not installed"))
struct ExampleClientTests {
    private func run(_ arguments: [String], in folder: TemporaryFolder) throws -> ChildProcess {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/examples/room-client.py")
        return try ChildProcess(#require(Programs.installed("python3")), [script.path] + arguments, in: folder)
    }

    @Test("shows a room, lays it out, and tells what happens until it is closed")
    func call() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(["--canvas", "320x180", "--frame-rate", "10"], in: folder)
        let nobody = try run([relay.url(""), "demo"], in: folder)
        #expect(try await nobody.end(within: .seconds(20)) == 1)
        #expect(nobody.errors.contains("there is no room 'demo'"))

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
