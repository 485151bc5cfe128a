import ConferenceClient
import Foundation
import Glibc
import OpenSSLClient
import Testing

/// Our own programs on real sockets.
@Suite("Calls between confrelay and confclient", .serialized)
struct CallTests {
    private func client(_ arguments: [String], in folder: TemporaryFolder) throws -> ChildProcess {
        try ChildProcess(Programs.product("confclient"), arguments, in: folder)
    }

    private func report<Report: Decodable>(_ name: String, in folder: TemporaryFolder) throws -> Report {
        try JSONDecoder().decode(Report.self, from: Data(contentsOf: folder.file(name)))
    }

    @Test("three clients get pictures, over DTLS or not; a slow link does not affect the others")
    func threeClients() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(["--canvas", "640x360", "--frame-rate", "15"], in: folder)
        let room = relay.url("/rooms/demo")
        let links = [
            ("Ada", []), ("Ben", ["--transport", "sdes"]), ("Cy", ["--downlink", "rate=500k,delay=40ms,loss=1%"]),
        ]
        let clients = try links.map { name, link in
            let options = [
                "--name", name, "--size", "320x180", "--frame-rate", "15", "--duration", "8", "--quiet",
                "--stats", "\(name).json", "--snapshot", "\(name).png",
            ]
            return try (name, client(["join", room] + options + link, in: folder))
        }
        for (name, client) in clients {
            #expect(try await client.end(within: .seconds(60)) == 0, "\(name): \(client.errors)")
            let report: ClientReport = try report("\(name).json", in: folder)
            #expect(report.end == "duration")
            #expect(report.join.transport == (name == "Ben" ? "sdes" : "dtls"))
            #expect(report.join.secondsToConnect != nil && report.join.secondsToFirstPicture != nil, "\(name)")
            #expect(report.receivedVideo.framesPerSecond > 5, "\(name)")
            #expect(report.receivedVideo.width == 640 && report.receivedVideo.height == 360)
            #expect(report.receivedAudio.packets > 100, "\(name)")
            #expect(report.sentVideo.frames > 20, "\(name)")
            #expect(folder.size(of: "\(name).png") > 0, "\(name)")
            #expect((report.downlink != nil) == (name == "Cy"))
            if let link = report.downlink {
                // The link's queue lets nothing through that is faster than its rate.
                #expect(Double(link.bytesDelivered) * 8 / report.durationSeconds < 550_000)
                #expect(link.packetsLost > 0)
                let late = report.samples.dropFirst(report.samples.count / 2).map(\.receivedVideoBitsPerSecond)
                #expect(late.reduce(0, +) > 0, "the picture did not stop")
            } else {
                #expect(report.receivedVideo.lossFraction < 0.05, "\(name)")
            }
        }
    }

    @Test("confclient shows and changes the layouts of a room and of one participant, by names")
    func layouts() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(["--canvas", "320x180", "--frame-rate", "10"], in: folder)
        let room = relay.url("/rooms/demo")
        let people = try ["Ada", "Ben"].map { name in
            try client(
                ["join", room, "--name", name, "--size", "160x90", "--frame-rate", "5", "--audio", "none", "--quiet"],
                in: folder)
        }
        for name in ["Ada", "Ben"] { try await relay.participant(name, in: "demo") }
        try Data(#"{"slots":[{"name":"a","x":3,"y":0,"width":1,"height":1,"show":["next"]}]}"#.utf8)
            .write(to: folder.file("wrong.json"))
        func layout(_ arguments: String...) async throws -> (code: Int32, output: String, errors: String) {
            let child = try client(["layout", room] + arguments, in: folder)
            let code = try await child.end(within: .seconds(30))
            return (code, child.output, child.errors)
        }
        #expect(try await layout("pinned", "--participant", "ada", "--fit", "cover").code == 0)
        #expect(try await layout("--for", "Ben", "--hide", "Ada", "--self-view", "always").code == 0)
        let shown = try await layout()
        #expect(shown.output.contains("room: pinned Ada, fit cover"), "\(shown.output)")
        #expect(shown.output.contains("without Ada, self-view always"), "\(shown.output)")
        #expect(try await layout("--for", "Ben", "--unhide", "Ada").code == 0)
        #expect(try await layout("--for", "Ben", "--reset").code == 0)
        #expect(try await layout().output.contains("as the room"))
        let nobody = try await layout("solo", "--participant", "Eve")
        #expect(nobody.code == 64 && nobody.errors.contains("nobody in the room is called 'Eve'"), "\(nobody.errors)")
        let wrong = try await layout("--template", folder.file("wrong.json").path)
        #expect(wrong.code == 66 && wrong.errors.contains("slots[0].x"), "\(wrong.errors)")
        #expect(try await layout("--self-view", "always").code == 64)
        let absent = try client(["layout", relay.url("/rooms/other")], in: folder)
        #expect(try await absent.end(within: .seconds(30)) == 69)
        for person in people { person.signal(SIGINT) }
        for person in people { #expect(try await person.end(within: .seconds(20)) == 0) }
    }

    @Test("a relay with a certificate is joined by a client that is told whom to trust, and by no other")
    func https() async throws {
        let folder = try TemporaryFolder()
        let own = try BareCertificate(isOfLoopback: true)
        try Data(own.certificateText).write(to: folder.file("relay.crt"))
        try Data(own.keyText).write(to: folder.file("relay.key"))
        let relay = try await RelayProgram(
            ["--tls-certificate", "relay.crt", "--tls-key", "relay.key", "--canvas", "320x180"], in: folder)
        let arguments = [
            "join", relay.url("/rooms/demo"), "--size", "160x90", "--duration", "2", "--quiet", "--stats", "call.json",
        ]
        let trusting = try client(arguments + ["--ca", "relay.crt"], in: folder)
        #expect(try await trusting.end(within: .seconds(30)) == 0, "\(trusting.errors)")
        let report: ClientReport = try report("call.json", in: folder)
        #expect(report.receivedVideo.frames > 0)
        let other = try client(arguments, in: folder)
        #expect(try await other.end(within: .seconds(30)) == 69)
        #expect(other.errors.contains("is not trusted") && other.errors.contains("--ca"), "\(other.errors)")
    }

    @Test("a load of four clients is served")
    func load() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(["--canvas", "640x360", "--frame-rate", "15"], in: folder)
        let load = try client(
            ["load", relay.url("/rooms/demo"), "--count", "4", "--duration", "6", "--size", "320x180", "--frame-rate"]
                + ["15", "--quiet", "--stats", "load.json"], in: folder)
        #expect(try await load.end(within: .seconds(60)) == 0, "\(load.errors)")
        let report: LoadReport = try report("load.json", in: folder)
        #expect(report.joined == 4 && report.failures.isEmpty)
        #expect(report.totals.clientsWithoutVideo == 0)
        #expect(report.totals.minimumFramesPerSecond > 3)
        #expect(try await relay.room("demo") == nil, "all have left")
    }

    @Test("measurements for standard output are all that is there, and the summary goes to standard error")
    func measurementsToStandardOutput() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(["--canvas", "320x180", "--frame-rate", "15"], in: folder)
        let client = try client(
            [
                "join", relay.url("/rooms/demo"), "--name", "Ada", "--size", "320x180", "--duration", "2", "--stats",
                "-",
            ],
            in: folder)
        #expect(try await client.end(within: .seconds(30)) == 0, "\(client.errors)")
        let report = try JSONDecoder().decode(ClientReport.self, from: Data(client.output.utf8))
        #expect(report.end == "duration")
        #expect(client.errors.contains("moderator's key") && client.errors.contains("received video"))
        #expect(!FileManager.default.fileExists(atPath: folder.url.appending(path: "-").path))
    }

    @Test("the relay says goodbye on SIGTERM: it ends with 0 within two seconds, and its clients notice")
    func goodbye() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(["--canvas", "320x180", "--frame-rate", "15"], in: folder)
        let client = try client(
            ["join", relay.url("/rooms/demo"), "--name", "Ada", "--size", "320x180", "--quiet", "--stats", "Ada.json"],
            in: folder)
        try await relay.participant("Ada", in: "demo") { $0.uplink.framesReceived > 5 }
        relay.child.signal(SIGTERM)
        #expect(try await relay.child.end(within: .seconds(2)) == 0, "\(relay.child.errors)")
        #expect(try await client.end(within: .seconds(10)) == 69)
        let report: ClientReport = try report("Ada.json", in: folder)
        #expect(report.end == "relay-left")
    }

    @Test("a client whose seat is taken while it connects says that the room may be full")
    func lastSeat() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(
            ["--canvas", "320x180", "--frame-rate", "10", "--max-participants", "1"], in: folder)
        let arguments = ["join", relay.url("/rooms/demo"), "--size", "160x90"]
        let ada = try client(arguments + ["--uplink", "delay=1500ms"], in: folder)
        try await eventually("Ada has joined", within: .seconds(20)) {
            ada.errors.contains("moderator's key") || ada.output.contains("moderator's key") ? true : nil
        }
        let ben = try client(arguments + ["--quiet"], in: folder)
        #expect(try await ada.end(within: .seconds(20)) == 69)
        #expect(ada.errors.contains("the room may be full"), "\(ada.errors)")
        ben.signal(SIGINT)
        #expect(try await ben.end(within: .seconds(20)) == 0, "\(ben.errors)")
    }

    @Test("a client that a moderator removes says who did, also one that sends no pictures")
    func removal() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(["--canvas", "320x180", "--frame-rate", "10"], in: folder)
        let room = relay.url("/rooms/demo")
        let ada = try client(["join", room, "--name", "Ada", "--size", "160x90", "--stats", "-"], in: folder)
        let key = try await eventually("Ada has the moderator's key", within: .seconds(20)) {
            ada.errors.firstMatch(of: #/moderator's key: (\S+)/#).map { String($0.1) }
        }
        let ben = try client(["join", room, "--name", "Ben", "--video", "none", "--quiet"], in: folder)
        try await relay.participant("Ben", in: "demo") { $0.uplink.audioPackets > 10 }
        let moderate = try client(["moderate", room, "--token", key, "remove", "Ben"], in: folder)
        #expect(try await moderate.end(within: .seconds(20)) == 0, "\(moderate.errors)")
        #expect(try await ben.end(within: .seconds(20)) == 69)
        #expect(ben.errors == "confclient: a moderator removed us from the call\n")
        ada.signal(SIGINT)
        #expect(try await ada.end(within: .seconds(20)) == 0, "\(ada.errors)")
    }

    @Test("wrong options, ports in use and relays that are not there have exit codes of their own")
    func exitCodes() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(in: folder)
        let unused = try FreePorts.pairs(1)[0]
        for (program, arguments, code) in [
            ("confrelay", ["--bogus"], 64), ("confrelay", ["--port", "\(relay.port)"], 69),
            ("confclient", ["join", relay.url("/rooms/demo"), "--bogus"], 64),
            ("confclient", ["join", relay.url("/rooms/demo"), "--downlink", "rate=fast"], 64),
            ("confclient", ["join", relay.url("/rooms/demo"), "--controller", "none"], 64),
            ("confclient", ["join", relay.url("/rooms/demo"), "--suite", "AEAD_AES_128_GCM"], 64),
            ("confclient", ["join", relay.url("/rooms/demo"), "--video", "absent.mp4"], 66),
            ("confclient", ["join", "http://127.0.0.1:\(unused)/rooms/demo"], 69),
            ("confclient", ["load", relay.url("/rooms/demo"), "--count", "0"], 64),
            ("confclient", ["layout", relay.url("/rooms/demo"), "--pin", "271828"], 64),
            ("confclient", ["moderate", relay.url("/rooms/demo"), "pin", ""], 64),
        ] {
            let child = try ChildProcess(Programs.product(program), arguments, in: folder)
            #expect(try await child.end(within: .seconds(20)) == Int32(code), "\(program) \(arguments)")
            #expect(!child.errors.isEmpty)
        }
    }
}
