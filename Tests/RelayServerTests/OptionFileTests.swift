import ArgumentParser
import Conference
import CongestionControl
import Foundation
import MediaCore
import RelayServer
import SecureTransport
import Testing

@testable import confrelay

@Suite("Files of options")
struct OptionFileTests {
    private func read(_ text: String) throws -> OptionFile { try OptionFile(text: text, path: "relay.yaml") }

    /// The mistakes that are told of a file.
    private func mistakes(_ text: String) -> [String] {
        do {
            _ = try read(text)
            return []
        } catch let failure as CommandFailure {
            return failure.exit == .configuration ? failure.messages : ["exits with \(failure.exit)"]
        } catch {
            return ["\(error)"]
        }
    }

    private func withFile<Result>(_ text: String, _ body: (_ path: String) throws -> Result) throws -> Result {
        let path = FileManager.default.temporaryDirectory.appending(path: "confrelay-\(UUID().uuidString).yaml").path
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }

    private func configuration(_ text: String, _ commandLine: [String]) throws -> RelayServerConfiguration {
        try withFile(text) { path in
            let command = try RelayArguments(["--config", path] + commandLine).parse()
            return try #require(command as? ConfrelayCommand).serverConfiguration
        }
    }

    @Test("every option of --help is a key, but for those of the command line alone")
    func everyOption() {
        let help = ConfrelayCommand.helpMessage(columns: 200)
        let shown = help.split(separator: "\n").compactMap { line in
            line.firstMatch(of: #/^  (?:-\w, )?--([a-z0-9\-]+)/#).map { String($0.output.1) }
        }
        #expect(shown.count > 35)
        #expect(Set(shown) == Set(DeclaredOption.all.map(\.name)).union(DeclaredOption.commandLineOnly))
    }

    @Test("keys reach the configuration as options do, whatever YAML takes their values for")
    func keys() throws {
        let configuration = try configuration(
            """
            # Ours.
            port: 8000
            host: '::'
            public-address:
              - 192.0.2.7
              - 2001:db8::1
            labels: off
            ladder: true
            max-bitrate: 1.5M
            allow-silent-receivers: yes
            """, [])
        #expect(configuration.port == 8000)
        #expect(configuration.host == "::")
        #expect(configuration.publicAddresses.map(\.host) == ["192.0.2.7", "2001:db8::1"])
        #expect(!configuration.relay.labels && configuration.relay.hasLadder)
        #expect(configuration.relay.rateLimits.maximum == .megabits(1.5))
        #expect(configuration.relay.allowsSilentReceivers)
    }

    @Test("the command line wins, over lists as a whole")
    func precedence() throws {
        let text = "port: 8000\nframe-rate: 15\nice-server: [stun:a.example, stun:b.example]\n"
        let configuration = try configuration(text, ["--port=9000", "--ice-server", "stun:c.example"])
        #expect(configuration.port == 9000)
        #expect(configuration.relay.frameRate == 15)
        #expect(configuration.iceServers.map(\.uri) == ["stun:c.example"])
    }

    @Test("what two places say together is checked together")
    func together() throws {
        #expect(try configuration("tls-certificate: a.crt\n", ["--tls-key", "a.key"]).tls?.key == "a.key")
    }

    @Test(
        "an unknown key is told with its line and the nearest option",
        arguments: [
            ("port: 1\nprot: 2\n", "line 2: there is no option 'prot'; did you mean 'port'?"),
            ("max_participants: 2\n", "did you mean 'max-participants'?"),
            ("maxBitrate: 2M\n", "did you mean 'max-bitrate'?"),
            ("--port: 2\n", "keys have no dashes in front; did you mean 'port'?"),
            ("something-else-entirely: 2\n", "confrelay config print lists all"),
            ("config: other.yaml\n", "on the command line only"),
        ])
    func unknown(text: String, message: String) {
        let mistakes = mistakes(text)
        #expect(mistakes.count == 1)
        #expect(mistakes.first?.contains(message) == true, "\(mistakes)")
        #expect(mistakes.first?.hasPrefix("relay.yaml: line ") == true)
    }

    @Test("all mistakes are told at once")
    func allMistakes() { #expect(mistakes("prot: 1\nhots: 2\nlabels: on\n").count == 2) }

    @Test(
        "what is no option with a value is refused",
        arguments: [
            ("port: [1, 2]\n", "one value"), ("port:\n", "no value"), ("recordings: ''\n", "no value"),
            ("port: {a: 1}\n", "takes a value"),
            ("allow-silent-receivers: maybe\n", "true or false"), ("- port\n", "one option a line"),
            ("port: 1\nport: 2\n", "twice"), ("port: 'x\n", "no YAML"), ("? [a]\n: 1\n", "name of an option"),
            ("\u{1}", "relay.yaml: "),
        ])
    func refused(text: String, message: String) {
        #expect(mistakes(text).contains { $0.contains(message) }, "\(mistakes(text))")
    }

    @Test(
        "a value that its option does not take is told with the file, its line, and what the option takes",
        arguments: [
            ("labels: on\n\nport: 99999\n", ": line 3: The value '99999'", "give a number from 0 to 65535"),
            ("workers: many\n", ": line 1: The value 'many'", "one for each core"),
            ("port: 1\nworkers: 0\n", ": line 2: --workers 0", "choose 1 to 1024"),
            ("port: 1\noverload-control: 7\n", ": line 2: The value '7'", "'on' and 'off'"),
            ("port: 1\ntls-certificate: a.pem\n", ": line 2: --tls-certificate", "give --tls-key"),
        ])
    func wrongValue(text: String, place: String, advice: String) throws {
        #expect {
            try configuration(text, [])
        } throws: { error in
            guard let failure = error as? CommandFailure, let message = failure.messages.first else { return false }
            return failure.exit == .configuration && message.contains(".yaml\(place)") && message.contains(advice)
        }
    }

    /// The messages about a file whose keys are options.
    private func valueMistakes(_ text: String, _ commandLine: [String] = []) throws -> [String] {
        do {
            _ = try configuration(text, commandLine)
            return []
        } catch let failure as CommandFailure {
            // Without the file's path.
            return failure.messages.map { $0.split(separator: ".yaml: ", maxSplits: 1).last.map(String.init) ?? "" }
        }
    }

    @Test("all values that their options do not take are told at once, in the order of the file")
    func allValues() throws {
        let text = """
            frame-rate: 99
            labels: maybe
            ice-server: [stun:a.example, http://b.example, stun:c.example, nothing]
            port: many

            """
        let mistakes = try valueMistakes(text)
        let lines = ["line 1: --frame-rate 99", "line 2: The value 'maybe'", "line 3: ", "line 3: ", "line 4: "]
        #expect(mistakes.count == lines.count, "\(mistakes)")
        for (mistake, line) in zip(mistakes, lines) { #expect(mistake.hasPrefix(line)) }
        #expect(mistakes[2].contains("http://b.example") && mistakes[3].contains("nothing"))
    }

    @Test("wrong keys and wrong values are told together, in the order of the file")
    func keysAndValues() {
        let mistakes = mistakes("frame-rate: 99\nprot: 1\nlabels: maybe\n")
        #expect(mistakes.count == 3)
        for (line, mistake) in zip(1..., mistakes) { #expect(mistake.hasPrefix("relay.yaml: line \(line): ")) }
    }

    @Test(
        "what only follows from another mistake is not told",
        arguments: [
            // Without the first line, 200k would be less than the default of the start.
            ("start-bitrate: slow\nmax-bitrate: 200k\n", 1), ("tls-certifcate: a.crt\ntls-key: a.key\n", 1),
            ("min-bitrate: 500k\nstart-bitrate: 400k\nframe-rate: 99\n", 2),
        ])
    func consequences(text: String, count: Int) throws {
        let mistakes = try valueMistakes(text)
        #expect(mistakes.count == count, "\(mistakes)")
    }

    @Test("of a file of nothing but mistakes some are told, and that there are more")
    func manyMistakes() {
        let mistakes = mistakes((0..<1000).map { "nothing\($0): 1\n" }.joined())
        #expect(mistakes.count == 21)
        #expect(mistakes.first?.hasPrefix("relay.yaml: line 1: ") == true)
        #expect(mistakes.last == "relay.yaml: there are more mistakes; these are the first 20")
    }

    @Test("a secret that comes through a pipe is told as no mistake beside another one")
    func secretFromPipe() throws {
        let pipe = FileManager.default.temporaryDirectory.appending(path: "confrelay-secret-\(UUID().uuidString)").path
        try #require(mkfifo(pipe, 0o600) == 0)
        defer { try? FileManager.default.removeItem(atPath: pipe) }
        Thread.detachNewThread {
            let writer = FileHandle(forWritingAtPath: pipe)
            try? writer?.write(contentsOf: Data("secret".utf8))
            try? writer?.close()
        }
        let mistakes = try valueMistakes("turn-secret: \(pipe)\nframe-rate: 99\n")
        #expect(mistakes.count == 1)
        #expect(mistakes.first?.hasPrefix("line 2: --frame-rate 99") == true, "\(mistakes)")
    }

    @Test("a wrong value of the command line is not told as one of the file")
    func wrongCommandLine() throws {
        #expect {
            try configuration("port: 1\n", ["--frame-rate", "99"])
        } throws: { ConfrelayCommand.message(for: $0).hasPrefix("--frame-rate 99 is not possible") }
    }

    @Test(
        "an empty value is told as one, whatever its option takes",
        arguments: [["--recordings", ""], ["--recordings="], ["--port", "1", "--recordings", ""]])
    func emptyValue(commandLine: [String]) {
        #expect {
            try RelayArguments(commandLine)
        } throws: {
            ($0 as? CommandFailure)
                == CommandFailure(
                    .usage, "--recordings has an empty value: give it one, or leave the option out")
        }
    }

    @Test("a file that is not there is told", arguments: ["/nowhere/relay.yaml", "/"])
    func unreadable(path: String) {
        #expect {
            try RelayArguments(["--config", path])
        } throws: {
            guard let message = ($0 as? CommandFailure)?.messages.first else { return false }
            return message.contains(path) && !message.contains("NSCocoaErrorDomain")
        }
    }

    @Test("the example of docs/confrelay.md is one that the relay takes")
    func documentedExample() throws {
        let page = try DocumentPage.text("confrelay.md")
        let example = try #require(page.firstMatch(of: /```yaml\n(# confrelay --config [^`]*)```/)?.output.1)
        try withFile("LONG-RANDOM-TEXT\n") { secret in
            let text = example.replacing("/etc/confrelay/turn-secret", with: secret)
            let configuration = try configuration(String(text), [])
            #expect(configuration.tls?.key == "/etc/confrelay/privkey.pem")
            #expect(configuration.iceServers.count == 2)
        }
    }

    @Test("an empty file sets nothing", arguments: ["", "# port: 1\n", "---\n"])
    func empty(text: String) throws { #expect(try read(text).entries.isEmpty) }

    @Test("what config print writes is a file that says the same")
    func printing() throws {
        let commandLine = [
            "--port", "8000", "--host", "::", "--ice-server", "turn:t.example?username=a&credential=it's",
            "--ice-server", "stun:b.example", "--allow-silent-receivers", "--labels=off",
        ]
        let arguments = try RelayArguments(commandLine)
        let printed = try read(OptionListing(arguments: arguments).yaml)
        #expect(
            Set(printed.entries.map(\.option.name)) == [
                "port", "host", "ice-server", "allow-silent-receivers", "labels",
            ])
        for entry in printed.entries { #expect(entry.values == arguments.values(of: entry.option).values) }
    }

    @Test("each line that config print comments out is its option's, with its default where it has one")
    func printedDefaults() throws {
        let yaml = try OptionListing(arguments: RelayArguments([])).yaml
        #expect(try read(yaml).entries.isEmpty)
        for option in DeclaredOption.all { #expect(yaml.contains("\n# \(option.name): "), "\(option.name)") }
        #expect(yaml.contains("\n# port: 7000\n") && yaml.contains("\n# max-bitrate: 2.5M\n"))
        #expect(yaml.contains("\n# cluster-ca: <file>\n"), "the system's, which is no file")
    }

    @Test("config print --json tells where each value comes from")
    func json() throws {
        struct Listing: Decodable {
            struct Item: Decodable {
                var name: String
                var source: String
                var values: [String]
            }
            var options: [Item]
        }
        let text = try withFile("frame-rate: 15\n") { path in
            try OptionListing(arguments: RelayArguments(["--config", path, "--port", "1"])).json()
        }
        let items = try JSONDecoder().decode(Listing.self, from: Data(text.utf8)).options
        #expect(items.count == DeclaredOption.all.count)
        let sources = Dictionary(uniqueKeysWithValues: items.map { ($0.name, "\($0.source): \($0.values)") })
        #expect(sources["port"] == #"command line: ["1"]"#)
        #expect(sources["frame-rate"] == #"file: ["15"]"#)
        #expect(sources["canvas"] == #"default: ["1280x720"]"#)
        #expect(sources["images"] == "default: []")
    }
}
