import CongestionControl
import Foundation
import LinkEmulation
import MediaCore
import Testing

@testable import Simulation

/// A folder of files that goes with the test.
private final class Folder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("scenarios-\(UUID().uuidString)")

    init(_ files: [String: String]) throws {
        for (name, text) in files {
            let file = url.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func scenarios(_ name: String, environment: [String: String] = [:]) throws(ScenarioError) -> [Scenario] {
        try ScenarioFile(path: url.appendingPathComponent(name).path, environment: environment).scenarios
    }
}

@Suite("Scenario files")
struct ScenarioFileTests {
    private static let simple = """
        duration: 10s
        links:
          forward: {rate: 1M, delay: 20ms}
          backward: {rate: unlimited}
        flows:
          video: {kind: media}

        """

    @Test("a link and a flow are read with their values")
    func simple() throws {
        let folder = try Folder(["a.yaml": Self.simple])
        let scenario = try #require(try folder.scenarios("a.yaml").first)
        #expect(scenario.name == "a")
        #expect(scenario.duration == .seconds(10))
        #expect(scenario.links[0].profile == LinkProfile(rate: .fixed(.megabits(1)), delay: .milliseconds(20)))
        #expect(scenario.flows[0].forward == ["forward"])
        guard case .media(let parameters, let limits) = scenario.flows[0].kind else {
            Issue.record("no media")
            return
        }
        #expect(limits == RateLimits(minimum: .kilobits(150), start: .kilobits(300), maximum: .megabits(8)))
        #expect(parameters.encoder.frameRate == 30)
        #expect(parameters.repair == .nack)
        #expect(parameters.pictures == nil)
    }

    @Test("a flow may send real pictures, of a clip that lies beside the file, and go without repair")
    func pictures() throws {
        let media = "kind: media, repair: none, encoder: x264, video: clip.y4m, video-size: 320x180"
        let folder = try Folder(["a.yaml": Self.simple.replacingOccurrences(of: "kind: media", with: media)])
        guard case .media(let parameters, _)? = try folder.scenarios("a.yaml").first?.flows.first?.kind else {
            Issue.record("no media")
            return
        }
        #expect(parameters.repair == .none)
        #expect(
            parameters.pictures
                == PictureCoding(
                    encoder: .x264, clip: folder.url.appendingPathComponent("clip.y4m").path,
                    dimensions: VideoDimensions(width: 320, height: 180)))
    }

    @Test("files extend others, defaults come first, variants override, and null removes")
    func inheritance() throws {
        let folder = try Folder([
            "base.yaml": "defaults: {link: {delay: 50ms, queue: 1s}, media: {maximum: 2M}}\nlinks: {backward: {}}\n",
            "deep/a.yaml": """
            extends: ../base.yaml
            duration: 10s
            links:
              forward: {reference-rate: 1M, steps: [{at: 0s, ratio: 2}, {at: 5s, ratio: 0.5}]}
            flows: {video: {kind: media}, cross: {kind: udp, rate: 1M}}
            variants:
              plain: {}
              fixed: {links: {forward: {rate: 3M, delay: 100ms}}, flows: {cross: null, video: {count: 3, stagger: 2s}}}
            """,
        ])
        let scenarios = try folder.scenarios("deep/a.yaml")
        #expect(scenarios.map(\.name) == ["a/plain", "a/fixed"])
        let plain = try #require(scenarios[0].links.first { $0.name == "forward" }).profile
        #expect(plain.delay == .milliseconds(50))
        #expect(plain.queue == .duration(.seconds(1)))
        #expect(
            plain.rate
                == .steps([.init(at: .zero, rate: .megabits(2)), .init(at: .seconds(5), rate: .kilobits(500))]))
        #expect(scenarios[0].flows.map(\.name) == ["video", "cross"])
        let fixed = try #require(scenarios[1].links.first { $0.name == "forward" }).profile
        #expect(fixed.rate == .fixed(.megabits(3)))
        #expect(fixed.delay == .milliseconds(100))
        #expect(scenarios[1].flows.map(\.name) == ["video 1", "video 2", "video 3"])
    }

    @Test("a folder of traces makes a scenario of each, as long as the trace")
    func traces() throws {
        let folder = try Folder([
            "a.yaml": """
            links: {forward: {delay: 20ms, packets: 100}, backward: {}}
            flows: {video: {kind: media}}
            traces: {folder: $TRACES, link: forward}
            """,
            "t/one": "500\n1000\n2000\n", "t/two": "3000\n", "t/README.md": "not a trace",
        ])
        let scenarios = try folder.scenarios(
            "a.yaml", environment: ["TRACES": folder.url.appendingPathComponent("t").path])
        #expect(scenarios.map(\.name) == ["a/one", "a/two"])
        #expect(scenarios.map(\.duration) == [.seconds(2), .seconds(3)])
        #expect(scenarios[0].links[0].profile.maximumPackets == 100)
        let error = #expect(throws: ScenarioError.self) { try folder.scenarios("a.yaml") }
        #expect(error?.description.contains("a.yaml:3: the environment has no TRACES") == true)
    }

    @Test("a short trace is repeated as a whole until it lasts long enough")
    func shortTraces() throws {
        let folder = try Folder([
            "a.yaml": """
            links: {forward: {}, backward: {}}
            flows: {video: {kind: media}}
            traces: {folder: $TRACES, link: forward, at-least: 5s}
            """,
            "t/one": "2000\n", "t/two": "7000\n",
        ])
        let scenarios = try folder.scenarios(
            "a.yaml", environment: ["TRACES": folder.url.appendingPathComponent("t").path])
        #expect(scenarios.map(\.duration) == [.seconds(6), .seconds(7)])
    }

    @Test("a relative folder of the environment is one of the command's folder, not of the file's")
    func relativeFolder() throws {
        let folder = try Folder([
            "a.yaml": """
            links: {forward: {}, backward: {}}
            flows: {video: {kind: media}}
            traces: {folder: $TRACES, link: forward}
            """,
            "beside-the-file/one": "2000\n",
        ])
        #expect(throws: ScenarioError.self) {
            try folder.scenarios("a.yaml", environment: ["TRACES": "beside-the-file"])
        }
    }

    @Test("an unusable frame size is reported with its line, empty ones and comments counted")
    func frameSizes() throws {
        let media = "kind: media, frame-sizes: sizes.txt"
        let folder = try Folder([
            "a.yaml": Self.simple.replacingOccurrences(of: "kind: media", with: media),
            "sizes.txt": "# bytes\n\n1200\n\nmany\n",
        ])
        let error = #expect(throws: ScenarioError.self) { try folder.scenarios("a.yaml") }
        #expect(error?.reason.contains("line 5: 'many'") == true, "\(error?.reason ?? "")")
    }

    @Test("a file of bytes that are no text is told so")
    func noText() throws {
        let folder = try Folder(["a.yaml": ""])
        try Data([0x7B, 0xC3, 0x28]).write(to: folder.url.appendingPathComponent("a.yaml"))
        let error = #expect(throws: ScenarioError.self) { try folder.scenarios("a.yaml") }
        #expect(error?.reason == "cannot read it: it is no text in UTF-8")
    }

    @Test("feedback that a file names is distinguished from the default")
    func feedback() throws {
        let folder = try Folder([
            "a.yaml": """
            duration: 10s
            links: {forward: {}, backward: {}}
            flows: {named: {kind: media, feedback: transport-wide}, free: {kind: media}}
            """
        ])
        let given = try folder.scenarios("a.yaml").flatMap(\.flows).map { flow in
            guard case .media(let parameters, _) = flow.kind else { return false }
            return parameters.isFeedbackGiven == (flow.name == "named")
        }
        #expect(given == [true, true])
    }

    @Test(
        "mistakes are refused with file, line and reason",
        arguments: [
            ("delay: 20ms", "speed: 20ms", 3, "a link has no 'speed'"),
            ("rate: 1M", "rate: -1M", 3, "'rate: -1M' is not understood; expected a rate above zero"),
            ("rate: 1M", "steps: [{at: 0s, rate: 1M}, {at: 5s, rate: 2M}, {at: 5s, rate: 1M}]", 3, "'steps' overlap"),
            ("rate: 1M", "steps: [{at: 0s, rate: 1M}, {at: 5s, rate: 2M}, {at: 3s, rate: 1M}]", 3, "'steps' overlap"),
            ("rate: 1M", "steps: [{at: 0s, rate: -1M}]", 3, "expected a rate of at least zero"),
            ("rate: 1M", "steps: [{at: 1s, rate: 1M}]", 3, "must be at 0s"),
            ("rate: 1M", "steps: [{at: 0s, rate: 1M}, {at: 20s, rate: 2M}]", 3, "not before the end"),
            ("rate: 1M", "steps: [{at: 0s, ratio: 1}]", 3, "needs the link's 'reference-rate'"),
            ("rate: 1M", "rate: 1M, steps: [{at: 0s, rate: 1M}]", 3, "exclude each other"),
            ("rate: 1M", "trace: nowhere", 3, "there is no such file"),
            ("rate: 1M", "rate: 1M, loss: 150%", 3, "a part from 0 to 100%"),
            ("rate: 1M", "rate: 1M, burst: 5", 3, "'burst' needs 'loss'"),
            ("rate: 1M", "rate: 1M, rate: 2M", 3, "twice"),
            ("rate: 1M", "rate: 1M, policer: {rate: 1M}", 3, "a policer needs"),
            ("rate: 1M", "rate: 1M, changes: [{at: 2s, delay: 1ms}, {at: 1s, delay: 1ms}]", 3, "'changes' overlap"),
            ("kind: media", "kind: medium", 6, "expected media, audio, tcp, udp"),
            ("kind: media", "{}", 6, ""),
            ("kind: media", "kind: media, maximum: 100k", 6, "must be above zero and ascend"),
            ("kind: media", "kind: media, forward: [sideways]", 6, "there is no link 'sideways'"),
            ("kind: media", "kind: media, pauses: [{from: 2s, to: 5s}, {from: 4s, to: 6s}]", 6, "'pauses' overlap"),
            ("kind: media", "kind: media, start: 20s", 6, "'start' is after the end"),
            ("kind: media", "kind: media, count: 0", 6, "a whole number from 1"),
            ("kind: media", "kind: media, start: 2s, stop: 1s", 6, "the flow 'video' stops before it starts"),
            ("kind: media", "kind: media, count: 3, stagger: 2s, stop: 3s", 6, "the last flow of 'video' stops before"),
            ("kind: media", "kind: media, repair: glue", 6, "expected none or nack"),
            ("kind: media", "kind: media, encoder: x265", 6, "expected model, x264 or openh264"),
            ("kind: media", "kind: media, video: clip.y4m", 6, "are for real pictures"),
            ("kind: media", "kind: media, encoder: x264, video-size: 321x180", 6, "an even width and height"),
            ("kind: media", "kind: udp", 6, "needs a 'rate'"),
            ("kind: media", "kind: audio, rate: 64", 6, "expected a rate of audio, from 1k to 510k"),
            ("kind: media", "kind: media, audio: 1000000M", 6, "expected a rate of audio, from 1k to 510k"),
            ("rate: 1M", "rate: 1e300", 3, "'rate: 1e300' is not understood"),
            (
                "kind: media", "kind: tcp, transfers: {minimum: 1e18B, maximum: 1e18B, mean-idle: 1s}", 6,
                "'minimum: 1e18B' is not understood"
            ),
            ("kind: media", "kind: tcp, transfers: {minimum: 30kB}", 6, "'transfers' need"),
            ("duration: 10s", "duration: soon", 1, "expected a time"),
            ("duration: 10s", "colour: red", 1, ""),
        ])
    func errors(text: String, replacement: String, line: Int, reason: String) throws {
        let folder = try Folder(["a.yaml": Self.simple.replacingOccurrences(of: text, with: replacement)])
        let error = #expect(throws: ScenarioError.self) { try folder.scenarios("a.yaml") }
        #expect(error?.file.hasSuffix("a.yaml") == true)
        #expect(error?.line == line, "\(error.map(\.description) ?? "")")
        #expect(error?.reason.contains(reason) == true || reason.isEmpty, "\(error?.reason ?? "")")
    }

    @Test("files that are no YAML, or empty, are refused")
    func noYAML() throws {
        let folder = try Folder(["a.yaml": "links: {forward: [", "b.yaml": "", "c.yaml": "- 1\n"])
        for name in ["a.yaml", "b.yaml", "c.yaml", "d.yaml"] {
            #expect(throws: ScenarioError.self) { try folder.scenarios(name) }
        }
    }

    @Test("files that extend each other in a circle are refused")
    func circle() throws {
        let folder = try Folder(["a.yaml": "extends: b.yaml\n", "b.yaml": "extends: a.yaml\n"])
        let error = #expect(throws: ScenarioError.self) { try folder.scenarios("a.yaml") }
        #expect(error?.reason.contains("extend each other") == true)
    }

    /// The project's folder of scenarios.
    private static let simulations = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }.appendingPathComponent("Simulations")

    @Test("all scenarios of the project can be read, and their names differ")
    func projectScenarios() throws {
        let root = Self.simulations
        let files = try #require(FileManager.default.enumerator(atPath: root.path)).compactMap { $0 as? String }
            .filter { $0.hasSuffix(".yaml") && !$0.hasSuffix("defaults.yaml") && $0 != "suite.yaml" }
        let traces = root.appendingPathComponent("traces").path
        let scenarios = try files.flatMap { file in
            try ScenarioFile(
                path: root.appendingPathComponent(file).path, name: String(file.dropLast(5)),
                environment: ["CONFRELAY_TRACES_DIR": traces]
            ).scenarios
        }
        #expect(scenarios.count >= 60)
        #expect(Set(scenarios.map(\.name)).count == scenarios.count)
        for number in 1...8 { #expect(scenarios.contains { $0.name.hasPrefix("rfc8867/5.\(number)") }) }
    }

    @Test("the project's suite names files that are there")
    func projectSuite() throws {
        let root = Self.simulations
        let path = root.appendingPathComponent("suite.yaml").path
        #expect(SuiteFile.isSuite(path: path))
        #expect(!SuiteFile.isSuite(path: root.appendingPathComponent("peer-suite.yaml").path))
        let suites = try SuiteFile(path: path).suites
        #expect(suites.map(\.name).contains("rfc8867"))
        for file in suites.flatMap(\.files) {
            #expect(FileManager.default.fileExists(atPath: root.appendingPathComponent(file).path))
        }
    }

    @Test(
        "a suite with an unknown key, without files or without suites is refused",
        arguments: [
            ("suites: {a: {file: x.yaml}}\n", "has no 'file'"), ("suites: {a: {}}\n", "needs 'files'"),
            ("suites: {}\n", "no suite"), ("other: 1\nsuites: {a: {files: x}}\n", "has no 'other'"),
            ("duration: 5s\n", "needs 'suites'"),
        ])
    func wrongSuite(text: String, reason: String) throws {
        let folder = try Folder(["suite.yaml": text])
        let error = #expect(throws: ScenarioError.self) {
            try SuiteFile(path: folder.url.appendingPathComponent("suite.yaml").path)
        }
        #expect(error?.reason.contains(reason) == true)
    }
}
