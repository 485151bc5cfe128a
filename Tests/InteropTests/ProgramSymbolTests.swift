import Foundation
import Testing

/// The symbols that the programs define for the shared libraries that they load.
@Suite struct ProgramSymbolTests {
    @Test(
        "programs leave the C library's clock to the libraries that they load",
        .enabled(if: Programs.areInstalled("nm"), "needs nm: make test installs it"),
        arguments: ["confrelay", "confclient", "confsim"])
    func clock(program: String) async throws {
        let folder = try TemporaryFolder()
        let nm = try #require(Programs.installed("nm"))
        let child = try ChildProcess(nm, ["-D", "--defined-only", Programs.product(program).path], in: folder)
        #expect(try await child.end(within: .seconds(60)) == 0, "\(child.errors)")
        let names = child.output.split(separator: "\n").compactMap { $0.split(separator: " ").last }
        #expect(!names.contains("gettimeofday"))
        #expect(!names.contains { $0.hasPrefix("dtls_clock") })
    }
}
