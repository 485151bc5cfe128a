import ArgumentParser
import Foundation
import Simulation
import Testing

@testable import confsim

@Suite("Commands")
struct CommandTests {
    private func scenarios() throws -> TemporaryFolder {
        try TemporaryFolder([
            "a.yaml": TemporaryFolder.scenario,
            "b.yaml": TemporaryFolder.scenario.replacingOccurrences(of: "rate: 1M", with: "rate: 600k")
                + "title: A slower one\n",
        ])
    }

    /// Runs a command line, and tells its exit code.
    private func run(_ arguments: [String]) async -> Int32 {
        do {
            var command = try Confsim.parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return 0
        } catch {
            return Confsim.exitCode(for: error).rawValue
        }
    }

    @Test("a comparison writes a page, results, figures and tables, the same bytes with one job and with three")
    func compare() async throws {
        let folder = try scenarios()
        for jobs in [1, 3] {
            let code = await run([
                "compare", folder.path, "--controller", "google,confrelay", "--runs", "2", "--jobs", "\(jobs)",
                "--report", "\(folder.path)/\(jobs)/deep", "--markdown", "\(folder.path)/\(jobs).md", "--csv",
                "\(folder.path)/\(jobs).csv",
            ])
            #expect(code == 0)
        }
        for name in ["report.html", "results.json", "flows.csv"] {
            #expect(try folder.text("1/deep/\(name)") == folder.text("3/deep/\(name)"))
        }
        #expect(try folder.text("1.md") == folder.text("3.md"))
        #expect(try folder.text("1.csv") == folder.text("3.csv"))
        let results = try JSONDecoder().decode(
            [ScenarioResult].self, from: Data(folder.text("1/deep/results.json").utf8))
        #expect(results.map(\.scenario) == ["a", "a", "a", "a", "b", "b", "b", "b"])
        #expect(
            results.map(\.controller) == ["google", "google", "confrelay", "confrelay"]
                + results.prefix(4).map(\.controller))
        #expect(results.map(\.seed) == [1, 2, 1, 2, 1, 2, 1, 2])
        #expect(results.allSatisfy { $0.flows[0].samples.isEmpty })
        #expect(try folder.text("1/deep/report.html").contains("A slower one"))
        #expect(try folder.text("1.csv").split(separator: "\n").count == 5)
    }

    @Test("a replay writes a report, results with samples, figures and the controller's state")
    func replay() async throws {
        let folder = try TemporaryFolder()
        let code = await run([
            "replay", "--link", "rate=1M,delay=20ms", "--duration", "5s", "--controller", "google,oracle", "--report",
            folder.path, "--json", "\(folder.path)/all.json", "--csv", "\(folder.path)/all.csv", "--samples",
            "\(folder.path)/samples.csv",
        ])
        #expect(code == 0)
        let results = try JSONDecoder().decode([ScenarioResult].self, from: Data(folder.text("all.json").utf8))
        #expect(results.map(\.controller) == ["google", "oracle"])
        #expect(results[0].flows[0].samples.count == 25)
        #expect(try folder.text("samples.csv").split(separator: "\n").count == 51)
        #expect(try folder.text("report.html").contains("rate=1M,delay=20ms"))
    }

    @Test("traces of one name in two folders are two scenarios, told apart by their paths")
    func namesakes() async throws {
        let trace = (1...200).map { "\($0 * 10)" }.joined(separator: "\n") + "\n"
        let folder = try TemporaryFolder(["a/x.down": trace, "b/x.down": trace, "y.down": trace])
        let paths = ["a/x.down", "b/x.down", "y.down"].map { "\(folder.path)/\($0)" }
        let code = await run(["replay"] + paths + ["--controller", "fixed", "--json", "\(folder.path)/all.json"])
        #expect(code == 0)
        let results = try JSONDecoder().decode([ScenarioResult].self, from: Data(folder.text("all.json").utf8))
        #expect(results.map(\.scenario) == [paths[0], paths[1], "y.down"])
    }

    @Test("a run's report and plots have its scenarios")
    func runReport() async throws {
        let folder = try scenarios()
        let code = await run([
            "run", "\(folder.path)/b.yaml", "--controller", "google", "--report", "\(folder.path)/out", "--plots",
            "\(folder.path)/plots",
        ])
        #expect(code == 0)
        #expect(try folder.text("out/report.html").contains("A slower one"))
        #expect(try folder.text("plots/b.svg").contains(">google</text>"))
    }

    @Test("the lines of a room's samples have as many fields as the heading, whatever the link is called")
    func roomSamples() async throws {
        let folder = try TemporaryFolder()
        let code = await run([
            "room", "--link", "rate=1M,delay=20ms", "--receivers", "1", "--encoders", "1", "--duration", "3s",
            "--warm-up", "1s", "--samples", "\(folder.path)/s.csv",
        ])
        #expect(code == 0)
        let lines = try folder.text("s.csv").split(separator: "\n")
        #expect(lines.count > 1)
        #expect(lines.dropFirst().allSatisfy { $0.contains(",\"rate=1M,delay=20ms\",") })
    }

    @Test("a sensitivity analysis has a row for each constant and factor")
    func sensitivity() async throws {
        let folder = try scenarios()
        let code = await run([
            "sensitivity", "\(folder.path)/a.yaml", "--constants", "caution,memory", "--factors", "0.5,2", "--csv",
            "\(folder.path)/s.csv", "--markdown", "\(folder.path)/s.md",
        ])
        #expect(code == 0)
        let lines = try folder.text("s.csv").split(separator: "\n")
        #expect(
            lines.map { $0.split(separator: ",", omittingEmptySubsequences: false)[0] }
                == ["constant", "", "caution", "caution", "memory", "memory"])
        #expect(try folder.text("s.md").contains("| memory | 2 |"))
    }

    @Test("an output that is a folder is refused before a run, not after it")
    func folderAsOutput() throws {
        let folder = try TemporaryFolder(["all.json": "[]"])
        #expect(throws: ExitCode(73)) { try Output.check(["\(folder.path)/new.json", folder.path]) }
        try Output.check(["\(folder.path)/new.json", "\(folder.path)/all.json", nil])
    }

    @Test("the file '-' is standard output, which only one file can be")
    func standardOutput() throws {
        try Output.check(["-", "all.json"])
        #expect(throws: ExitCode(73)) { try Output.check(["-", "-"]) }
        try Output.write("", to: "-")
        #expect(!FileManager.default.fileExists(atPath: "-"))
    }

    @Test(
        "wrong usage ends with 64",
        arguments: [
            ["compare", "--controller", "nobody"], ["compare", "--controller", "google,google"],
            ["compare", "--controller", ""], ["compare", "--jobs", "0"], ["compare", "--runs", "0"],
            ["compare", "--nothing"], ["sensitivity", "--factors", "0"], ["sensitivity", "--factors", "x"],
            ["sensitivity", "--constants", "nothing"], ["replay"],
            ["replay", "--link", "rate=1M", "--sample-interval", "0s"],
            ["replay", "--link", "rate=1M", "--scale", "drainTime=1e300"],
            ["replay", "--link", "rate=1M", "--scale", "nothing=2"],
            ["replay", "--link", "rate=1M", "--scale", "growth"],
            ["run"],
        ])
    func wrongUsage(arguments: [String]) async {
        #expect(await run(arguments) == 64)
    }

    @Test("constants at the ends of their range are simulated")
    func extremeConstants() async throws {
        let folder = try scenarios()
        #expect(await run(["sensitivity", "\(folder.path)/a.yaml", "--factors", "0.001,1000"]) == 0)
    }

    @Test("a folder that cannot be made and a file that cannot be written end with 73, before anything is simulated")
    func unwritable() async throws {
        let folder = try scenarios()
        let file = "\(folder.path)/a.yaml"
        #expect(await run(["compare", file, "--report", "\(file)/out"]) == 73)
        #expect(await run(["compare", file, "--markdown", "\(folder.path)/gone/table.md"]) == 73)
        #expect(await run(["run", file, "--json", "\(folder.path)/gone/x.json"]) == 73)
        #expect(await run(["replay", "--link", "rate=1M", "--report", "\(file)/out"]) == 73)
        let figures = "\(folder.path)/figures.csv"
        #expect(
            await run([
                "replay", "--link", "rate=1M", "--duration", "1s", "--csv", figures, "--flight-recorder",
                "\(folder.path)/gone/x.flight",
            ]) == 73)
        #expect(!FileManager.default.fileExists(atPath: figures))
    }

    @Test("scenarios that are not there end with 66")
    func unusable() async throws {
        let folder = try TemporaryFolder()
        #expect(await run(["compare", folder.path]) == 66)
        #expect(await run(["compare", "\(folder.path)/gone.yaml"]) == 66)
        #expect(await run(["sensitivity", folder.path]) == 66)
    }

    @Test("a trace that is not understood ends with 66, whether it is an argument or a part of the link")
    func brokenTraces() async throws {
        let folder = try TemporaryFolder(["x.down": "5\nx\n", "x.csv": "0,2\n5,x\n"])
        for path in ["\(folder.path)/x.down", "\(folder.path)/x.csv"] {
            #expect(await run(["replay", path]) == 66)
            #expect(await run(["replay", "--link", "trace=\(path)"]) == 66)
        }
    }
}
