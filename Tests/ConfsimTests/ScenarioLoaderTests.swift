import ArgumentParser
import Foundation
import Simulation
import Testing

@testable import confsim

/// A folder of files that goes with the test.
final class TemporaryFolder {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("confsim-\(UUID().uuidString)").path

    init(_ files: [String: String] = [:]) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, text) in files {
            let url = URL(fileURLWithPath: path).appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func text(_ name: String) throws -> String {
        try String(contentsOf: URL(fileURLWithPath: path).appendingPathComponent(name), encoding: .utf8)
    }

    /// A scenario of five seconds.
    static let scenario = """
        duration: 5s
        links: {forward: {rate: 1M, delay: 20ms}, backward: {rate: unlimited}}
        flows: {video: {kind: media}}

        """
}

@Suite("Finding scenarios")
struct ScenarioLoaderTests {
    private let loader = ScenarioLoader(environment: [:])

    private func folder(suite: String = "") throws -> TemporaryFolder {
        let trace = (1...2000).map { "\($0)" }.joined(separator: "\n") + "\n"
        let traces = TemporaryFolder.scenario
            .replacingOccurrences(of: "duration: 5s\n", with: "")
            .replacingOccurrences(of: "rate: 1M", with: "rate: unlimited")
        return try TemporaryFolder([
            "defaults.yaml": "defaults: {}\n", "top.yaml": TemporaryFolder.scenario,
            "some/one.yaml": TemporaryFolder.scenario + "variants: {a: {}, b: {}}\n",
            "some/cell-defaults.yaml": "defaults: {}\n", "some/notes.txt": "no scenario",
            "traced.yaml": traces + "traces: {folder: traces, link: forward}\n", "traces/x.down": trace,
            "suite.yaml": suite,
        ])
    }

    @Test("of a folder all scenarios are read, by their names and suites")
    func folders() throws {
        let folder = try folder()
        let scenarios = try loader.scenarios([folder.path])
        let own = URL(fileURLWithPath: folder.path).lastPathComponent
        #expect(scenarios.map(\.name) == ["some/one/a", "some/one/b", "top", "traced/x.down"])
        #expect(scenarios.map(\.suite) == ["some", "some", own, "traced"])
    }

    @Test("a suite names groups of files, and leaves out files that the environment lacks")
    func suites() throws {
        let text = """
            suites:
              first: {files: some, only: /b}
              second: {files: [top.yaml]}
              third: {files: top.yaml, needs: NOWHERE}

            """
        let folder = try folder(suite: text)
        let path = folder.path + "/suite.yaml"
        let scenarios = try loader.scenarios([path])
        #expect(scenarios.map(\.name) == ["some/one/b", "top"])
        #expect(scenarios.map(\.suite) == ["first", "second"])
        let complete = ScenarioLoader(environment: ["NOWHERE": "/"])
        #expect(try complete.scenarios([path]).map(\.suite) == ["first", "second", "third"])
    }

    @Test("scenarios of one name under two paths are told apart by the paths")
    func namesakes() throws {
        let scenario = TemporaryFolder.scenario
        let folder = try TemporaryFolder([
            "a/x.yaml": scenario, "b/x.yaml": scenario, "b/y.yaml": scenario, "c/deep/z.yaml": scenario,
            "d/deep/z.yaml": scenario,
        ])
        let paths = ["a/x.yaml", "b/x.yaml", "b/y.yaml", "c", "d"].map { "\(folder.path)/\($0)" }
        let names = try loader.scenarios(paths).map(\.name)
        #expect(names == ["\(paths[0]): x", "\(paths[1]): x", "y", "\(paths[3]): deep/z", "\(paths[4]): deep/z"])
    }

    @Test("hidden files are left out, and a folder of very many files is refused")
    func otherFolders() throws {
        let folder = try TemporaryFolder([
            "a.yaml": TemporaryFolder.scenario, ".build/b.yaml": "no scenario", ".c.yaml": "no scenario",
        ])
        #expect(try loader.scenarios([folder.path]).map(\.name) == ["a"])
        var loader = loader
        loader.maximumFiles = 2
        #expect(exitCode { _ = try loader.scenarios([folder.path]) } == 66)
    }

    private func exitCode(_ body: () throws -> Void) -> Int32? {
        do {
            try body()
            return 0
        } catch {
            return (error as? ExitCode)?.rawValue
        }
    }

    @Test(
        "an invalid suite, a missing path and a name without a match are unusable inputs",
        arguments: [
            "suites: {a: {file: top.yaml}}\n", "suites: {a: {}}\n", "suites: {}\n", "suites: {a: {files: gone.yaml}}\n",
            "suites: [top.yaml]\n",
        ])
    func wrongSuites(text: String) throws {
        let folder = try folder(suite: text)
        #expect(exitCode { _ = try loader.scenarios([folder.path + "/suite.yaml"]) } == 66)
        #expect(exitCode { _ = try loader.scenarios([folder.path + "/gone.yaml"]) } == 66)
        #expect(exitCode { _ = try ScenarioLoader(only: "nothing").scenarios([folder.path]) } == 66)
        #expect(exitCode { _ = try loader.scenarios([folder.path + "/traces"]) } == 66)
    }
}
