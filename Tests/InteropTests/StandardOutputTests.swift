import Foundation
import Testing

/// What the programs say where their result cannot be written.
@Suite struct StandardOutputTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Runs a program whose output is on a full disk. Returns what it writes to standard error, and its exit code.
    private func failure(of program: String, _ arguments: String) async throws -> String {
        let command = "exec '\(try Programs.product(program).path)' \(arguments) > /dev/full"
        let child = try ChildProcess(URL(fileURLWithPath: "/bin/sh"), ["-c", command], in: folder)
        let code = try await child.end(within: .seconds(60))
        return "\(child.errors)\(code)"
    }

    @Test("a result that cannot be written is told in the system's words, by each program alike")
    func words() async throws {
        let relay = try await RelayProgram(["--recordings", "rec"], in: folder)
        let words = "cannot write standard output: the disk is full\n"
        #expect(try await failure(of: "confrelay", "key") == "confrelay: \(words)73")
        #expect(
            try await failure(of: "confsim", "traces generate --kind lte --duration 2s") == "Error: \(words)73")
        let list = "record list \(relay.url("/rooms/demo")) --json"
        #expect(try await failure(of: "confclient", list) == "confclient: \(words)74")
    }
}
