import ArgumentParser
import Conference
import CongestionControl
import Foundation
import LoadControl
import Logging
import MediaCore
import RelayServer
import RoomAPI
import RoomMedia
import SecureTransport
import Testing
import VideoCoding

@testable import confrelay

@Suite("The command line of confrelay")
struct CommandLineTests {
    private func message(_ arguments: [String]) -> String {
        do {
            _ = try ConfrelayCommand.parse(arguments)
            return ""
        } catch {
            return ConfrelayCommand.message(for: error)
        }
    }

    @Test("without options the defaults hold")
    func defaults() throws {
        let configuration = try ConfrelayCommand.parse([]).serverConfiguration
        #expect(configuration.host == "127.0.0.1")
        #expect(configuration.port == 7000)
        #expect(configuration.publicAddresses.isEmpty)
        #expect(configuration.workers >= 1)
        #expect(configuration.relay.canvas == VideoDimensions(width: 1280, height: 720))
        #expect(configuration.relay.frameRate == 30)
        #expect(configuration.relay.rateLimits == RelayConfiguration().rateLimits)
        #expect(configuration.relay.encoder == .openH264)
        #expect(configuration.relay.selfView == .auto)
        #expect(configuration.relay.labels)
        #expect(configuration.relay.overload?.workers ?? 0 >= 1)
        #expect(configuration.relay.hasLadder)
        #expect(!configuration.relay.allowsSilentReceivers)
        #expect(configuration.flightRecorderFolder == nil)
        #expect(configuration.flightRecorderLimit == DataSize(bytes: 64_000_000))
    }

    @Test("each option reaches the configuration")
    func options() throws {
        let command = try ConfrelayCommand.parse([
            "--port", "0", "--host", "::", "--public-address", "192.0.2.7", "--public-address", "2001:db8::1",
            "--canvas", "640x360", "--frame-rate", "15", "--min-bitrate", "50k", "--start-bitrate", "300000",
            "--max-bitrate", "1.5M", "--encoder", "x264", "--workers", "3", "--max-participants", "4",
            "--idle-timeout", "9", "--self-view", "always", "--labels", "off", "--ladder", "off", "--log-level",
            "debug", "--log-format",
            "json",
            "--controller", "confrelay", "--flight-recorder", "flights", "--flight-recorder-limit", "500kB",
            "--overload-control", "off", "--allow-silent-receivers",
        ])
        let configuration = command.serverConfiguration
        #expect(configuration.host == "::")
        #expect(configuration.port == 0)
        #expect(configuration.publicAddresses.map(\.host) == ["192.0.2.7", "2001:db8::1"])
        #expect(configuration.workers == 3)
        #expect(configuration.relay.canvas == VideoDimensions(width: 640, height: 360))
        #expect(configuration.relay.frameRate == 15)
        #expect(configuration.relay.rateLimits.minimum == .kilobits(50))
        #expect(configuration.relay.rateLimits.start == .kilobits(300))
        #expect(configuration.relay.rateLimits.maximum == .megabits(1.5))
        #expect(configuration.relay.encoder == .x264)
        #expect(!configuration.relay.labels)
        #expect(configuration.relay.overload == nil)
        #expect(!configuration.relay.hasLadder)
        #expect(configuration.relay.maximumParticipants == 4)
        #expect(configuration.relay.idleTimeout == .seconds(9))
        #expect(configuration.relay.allowsSilentReceivers)
        #expect(configuration.relay.selfView == .always)
        #expect(configuration.relay.congestionController == .confrelay)
        #expect(configuration.flightRecorderFolder == "flights")
        #expect(configuration.flightRecorderLimit == DataSize(bytes: 500_000))
        #expect(command.logging.logLevel == .debug)
        #expect(command.logging.logFormat == .json)
    }

    @Test("a certificate, its key and ICE servers reach the configuration")
    func browsers() throws {
        let configuration = try ConfrelayCommand.parse([
            "--tls-certificate", "a.crt", "--tls-key", "a.key", "--ice-server", "stun:stun.example.org",
            "--ice-server", "turn:turn.example.org?username=ada&credential=secret",
        ]).serverConfiguration
        #expect(configuration.tls == TLSFiles(certificate: "a.crt", key: "a.key"))
        #expect(configuration.iceServers.map(\.uri) == ["stun:stun.example.org", "turn:turn.example.org"])
        #expect(try ConfrelayCommand.parse([]).serverConfiguration.tls == nil)
    }

    @Test(
        "what is no proxy's address or network, or is everybody's, is refused",
        arguments: ["proxy", "10.0.0.0/33", "2001:db8::/129", "10.0.0.0/", "10.0.0.0/-1", "0.0.0.0", "::", "::/0"])
    func proxies(text: String) {
        #expect(message(["--trusted-proxy", text]).contains("give an IP address or a network"))
    }

    @Test("limits on connections and recordings reach the configuration")
    func connectionsAndRecordings() throws {
        let configuration = try ConfrelayCommand.parse([
            "--max-connections", "64", "--trusted-proxy", "127.0.0.0/8", "--trusted-proxy", "::1",
            "--flight-recorder-files", "7",
        ]).serverConfiguration
        #expect(configuration.maximumConnections == 64)
        #expect(configuration.trustedProxies == ["127.0.0.0/8", "::1"].compactMap(NetworkPrefix.init(parsing:)))
        #expect(configuration.flightRecorderFiles == 7)
        #expect(message(["--max-connections", "3"]).contains("choose 16 to 16384"))
        #expect(message(["--max-encoders", "0"]).contains("choose 1 to 1024, or dedicated"))
        #expect(message(["--flight-recorder-files", "0"]).contains("choose 1 to 1000000"))
    }

    @Test(
        "a port that is none is refused with those that there are", arguments: ["--port", "--rtmp-port", "--srt-port"])
    func ports(option: String) {
        for text in ["70000", "-1", "x"] {
            #expect(message(["\(option)=\(text)"]).contains("from 0 to 65535"), "\(option) \(text)")
        }
        #expect(message([option, "65535"]).isEmpty)
    }

    @Test(
        "a bitrate whose letter is forgotten is refused with examples",
        arguments: ["--min-bitrate", "--start-bitrate", "--max-bitrate"])
    func bitRateWithoutLetter(option: String) {
        #expect(message([option, "2.5"]).contains("such as 500k, 2.5M or 800000"))
    }

    @Test(
        "figures need another port than the relay's own, unless that is at another address",
        arguments: [
            (["--admin-address", "127.0.0.1:7000"], true),
            (["--host", "0.0.0.0", "--admin-address", "127.0.0.1:7000"], true),
            (["--admin-address", "0.0.0.0:7000"], true), (["--admin-address", "127.0.0.1:7001"], false),
            (["--host", "192.0.2.7", "--admin-address", "127.0.0.1:7000"], false),
            (["--host", "0.0.0.0", "--admin-address", "[::1]:7000"], false),
            (["--host", "::1", "--admin-address", "0.0.0.0:7000"], false),
            (["--host", "::", "--admin-address", "127.0.0.1:7000"], true),
            (["--host", "192.0.2.7", "--admin-address", "[::]:7000"], true),
            (["--host", "192.0.2.7", "--admin-address", "[::ffff:192.0.2.7]:7000"], true),
        ])
    func adminPort(arguments: [String], isRefused: Bool) {
        #expect(message(arguments).contains("the relay's own --port") == isRefused)
    }

    @Test("pushed streams need another port than the relay's own")
    func streamPorts() throws {
        for option in ["--rtmp-port", "--srt-port"] {
            #expect(message([option, "7000"]).contains("the relay's own --port"))
            #expect(message(["--port", "1935", option, "1935"]).contains("the relay's own --port"))
            #expect(message(["--port", "0", option, "0"]).isEmpty)
        }
        #expect(message(["--rtmp-port", "9000", "--srt-port", "9000"]).isEmpty)
    }

    @Test("tokens that nobody could join with, and links to nowhere, are refused")
    func tokens() {
        func message(_ arguments: String...) -> String {
            do {
                _ = try TokenCommand.parse(["--auth-keys", "keys.json", "--room", "demo"] + arguments)
                return ""
            } catch {
                return TokenCommand.message(for: error)
            }
        }
        for name in [" ", String(repeating: "a", count: 65)] {
            #expect(message("--name", name).contains("1 to 64 visible characters"))
        }
        #expect(message("--link", "relay").contains("give the relay's URL"))
        #expect(message("--name", "Ada", "--link", "https://relay.example").isEmpty)
    }

    @Test("ICE servers are read from a file, and its mistakes are reported with their line")
    func iceServerFile() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "confrelay-ice-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("# ours\nturn:turn.example.org?username=ada&credential=secret\n".utf8).write(
            to: URL(fileURLWithPath: path))
        let configuration = try ConfrelayCommand.parse([
            "--ice-server", "stun:stun.example.org", "--ice-server-file", path,
        ]).serverConfiguration
        #expect(configuration.iceServers.map(\.uri) == ["stun:stun.example.org", "turn:turn.example.org"])
        try Data("http://example.org\n".utf8).write(to: URL(fileURLWithPath: path))
        #expect(message(["--ice-server-file", path]).contains("line 1"))
        #expect(message(["--ice-server-file", "/nowhere"]).contains("cannot be read"))
    }

    @Test(
        "an option of a relay's place in a cluster needs the cluster",
        arguments: [
            ["--node-id", "a"], ["--region", "north"], ["--advertise", "http://192.0.2.1:7000"],
            ["--join-by", "proxy"],
        ])
    func cluster(option: [String]) {
        #expect(message(option).contains("\(option[0]) is of use only with --cluster"))
        #expect(message(option + ["--cluster", "http://127.0.0.1:2379"]).isEmpty)
    }

    @Test("a certificate without its key, and a key without its certificate, are refused")
    func halfOfTLS() {
        #expect(message(["--tls-certificate", "a.crt"]).contains("give --tls-key as well"))
        #expect(message(["--tls-key", "a.key"]).contains("give --tls-certificate as well"))
    }

    @Test("texts that name no ICE server are refused with the reason")
    func badICEServer() {
        #expect(message(["--ice-server", "turn:turn.example.org"]).contains("?username=…&credential=…"))
        let text = message(["--ice-server", "turn:turn.example.org?transport=tcp"])
        #expect(text.contains("add &username=…&credential=…"))
    }

    @Test("a secret stands in for TURN servers' credentials")
    func turnSecret() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "confrelay-turn-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("north\n".utf8).write(to: URL(fileURLWithPath: path))
        let options = ["--ice-server", "turn:turn.example.org", "--turn-secret", path]
        #expect(try ConfrelayCommand.parse(options).serverConfiguration.turnSecret == TURNSecret("north"))
        #expect(message(["--turn-secret", "/nowhere"]).contains("cannot be read"))
    }

    @Test(
        "how long calls may go on is a time of at most a day, or off",
        arguments: [("30s", 30), ("5m", 300), ("24h", 86_400), ("off", 0)])
    func drain(text: String, seconds: Int) throws {
        #expect(try ConfrelayCommand.parse(["--drain", text]).operation.drain == .seconds(seconds))
    }

    @Test("other times are refused", arguments: ["5", "m", "-5m", "25h", "1.5h", "5 m", "99999999999999999999s"])
    func badDrain(text: String) { #expect(message(["--drain=\(text)"]).contains("30s, 5m or 2h")) }

    @Test(
        "rates are numbers with an optional k or M",
        arguments: [("500k", 500_000), ("2.5M", 2_500_000), ("800000", 800_000), ("1m", 1_000_000), ("0.5K", 500)])
    func rates(text: String, bitsPerSecond: Int) throws {
        #expect(try BitRate(option: text).bitsPerSecond == Int64(bitsPerSecond))
    }

    @Test(
        "texts that are no rate are refused",
        arguments: ["", "k", "-5k", "0", "1e6", "nan", "inf", "5x", "1.2.3", "99999M", "٥k"])
    func badRates(text: String) {
        #expect(throws: (any Error).self) { try BitRate(option: text) }
    }

    @Test(
        "texts that are no picture size are refused",
        arguments: ["", "x", "1280", "1280x", "1280x720x2", "-2x2", "0x0", "1281x720", "10x10", "9000x9000"])
    func badCanvas(text: String) {
        #expect(throws: (any Error).self) { try ConfrelayCommand.parse(["--canvas", text]) }
    }

    @Test(
        "sizes are numbers with an optional kB, MB or GB",
        arguments: [("500kB", 500_000), ("64MB", 64_000_000), ("2GB", 2_000_000_000), ("80000", 80_000)])
    func sizes(text: String, bytes: Int) throws {
        #expect(try DataSize(option: text).bytes == bytes)
    }

    @Test(
        "texts that are no size are refused",
        arguments: ["", "kB", "-5kB", "0", "1.5MB", "5k", "9223372036854775807GB", "٥MB"])
    func badSizes(text: String) {
        #expect(throws: (any Error).self) { try DataSize(option: text) }
    }

    @Test(
        "addresses that others cannot send to are no public addresses",
        arguments: ["", "example.org", "0.0.0.0", "::", "1.2.3", "1.2.3.4:5"])
    func badPublicAddress(text: String) {
        #expect(throws: (any Error).self) { try ConfrelayCommand.parse(["--public-address", text]) }
    }

    @Test(
        "values out of range are refused, and the message names the option",
        arguments: [
            ["--port", "65536"], ["--frame-rate", "0"], ["--frame-rate", "61"], ["--workers", "0"],
            ["--max-participants", "0"], ["--idle-timeout", "7"], ["--encoder", "vp8"], ["--log-level", "loud"],
            ["--self-view", "maybe"], ["--controller", "none"], ["--flight-recorder-limit", "9kB"],
            ["--min-bitrate", "2M", "--start-bitrate", "1M"],
        ])
    func outOfRange(arguments: [String]) {
        #expect(message(arguments).contains(arguments[0]))
    }

    @Test(
        "no token is made with a name that lets nobody in",
        arguments: ["", " ", "a\u{7}b", String(repeating: "a", count: 65)])
    func nameOfToken(name: String) throws {
        let arguments = ["token", "--auth-keys", "keys.json", "--room", "demo", "--name"]
        #expect(throws: (any Error).self) { try Confrelay.parse(arguments + [name]) }
        #expect(try Confrelay.parse(arguments + ["Ada"]) is TokenCommand)
    }

    @Test("no film is made under the name of its poster or captions, or of another format")
    func nameOfFilm() throws {
        for name in ["film.png", "film.vtt", "film.avi"] {
            let error = #expect(throws: (any Error).self) { try ArchiveCommand.parse(["rec", "-o", name]) }
            #expect(error.map { ArchiveCommand.message(for: $0).contains("must end in .mp4") } == true)
        }
        for name in ["film.mp4", "film.MP4", "film"] {
            #expect(throws: Never.self) { try ArchiveCommand.parse(["rec", "-o", name]) }
        }
    }

    @Test("every option of the help is in docs/confrelay.md")
    func documentedOptions() throws {
        let help = ConfrelayCommand.helpMessage(columns: 100)
        let names = help.matches(of: /(?m)^ {2}(?:-\w, )?(--[a-z0-9-]+)/).map { String($0.output.1) }
        #expect(names.count > 30)
        let page = try DocumentPage.text("confrelay.md")
        for name in names { #expect(page.contains(name), "\(name)") }
    }

    @Test("every exit code is in docs/confrelay.md")
    func documentedExitCodes() throws {
        let rows = try DocumentPage.text("confrelay.md").matches(of: /(?m)^\| ([0-9, ]+) \|/)
        let documented = rows.flatMap { $0.output.1.split(separator: ", ").compactMap { Int32($0) } }
        let codes = (0...255).filter { Confrelay.Exit(rawValue: $0) != nil }
        #expect(codes.count > 5)
        for code in codes { #expect(documented.contains(code), "\(code)") }
    }
}
