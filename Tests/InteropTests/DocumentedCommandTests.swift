import Foundation
import Testing

/// The commands of `confclient` that the documents show.
@Suite("The commands of confclient in the documents")
struct DocumentedCommandTests {
    /// The arguments of each command, for a relay that is not there.
    private static func commands() throws -> [[String]] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let pages = try FileManager.default.contentsOfDirectory(
            at: root.appendingPathComponent("docs"), includingPropertiesForKeys: nil
        ).filter { $0.pathExtension == "md" }
        return try (pages + [root.appendingPathComponent("README.md")]).flatMap { page in
            try String(contentsOf: page, encoding: .utf8).replacing("\\\n", with: " ").split(separator: "\n")
                // Those with variables are run as they stand.
                .filter { $0.hasPrefix("confclient ") && !$0.contains("$") }
                .map { line in
                    line.prefix { $0 != "#" }.replacing(/:[0-9]+\//, with: ":1/").replacing("'", with: "")
                        .split(separator: " ").dropFirst().filter { $0 != "&" }.map { String($0) }
                }
        }
    }

    @Test("are understood")
    func understood() async throws {
        let folder = try TemporaryFolder()
        let commands = try Self.commands()
        #expect(commands.count > 15)
        for arguments in commands {
            let child = try ChildProcess(Programs.product("confclient"), arguments, in: folder)
            // 64 is the code of a command that is not possible.
            let code = try await child.end(within: .seconds(60))
            #expect(code != 0 && code != 64, "\(arguments): \(child.errors)")
        }
    }
}
