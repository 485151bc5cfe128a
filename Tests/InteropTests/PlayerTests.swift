import Foundation
import FoundationNetworking
import Glibc
import Testing

/// Films and streams as members of rooms: files, HLS from a web server, and ffmpeg as an RTMP and as an SRT server.
@Suite(
    "Films and streams as members", .serialized,
    .enabled(if: Programs.areInstalled("ffmpeg", "python3"), "needs ffmpeg and python3: make test installs them"))
struct PlayerTests {
    private struct Player: Decodable {
        var id: String
        var state: String
        var reason: String?
        var position: Double
        var framesShown: Int
    }

    private let folder: TemporaryFolder
    private let port: UInt16

    init() throws {
        folder = try TemporaryFolder()
        port = try #require(FreePorts.pairs(1).first)
    }

    private static let source = [
        "-f", "lavfi", "-i", "smptebars=size=320x180:rate=25", "-f", "lavfi", "-i",
        "sine=frequency=440:sample_rate=44100",
    ]
    private static let h264 = [
        "-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-pix_fmt", "yuv420p", "-c:a", "aac",
    ]

    private func ffmpeg(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(
            #require(Programs.installed("ffmpeg")), ["-nostdin", "-v", "error", "-y"] + arguments, in: folder)
    }

    private func make(_ arguments: [String]) async throws {
        let child = try ffmpeg(Self.source + ["-t", "30"] + arguments)
        #expect(try await child.end(within: .seconds(60)) == 0, "\(child.errors)")
    }

    /// Makes a film or a stream of one kind. Returns its URL and the program that serves it.
    private func serve(_ kind: String) async throws -> (url: String, server: ChildProcess?) {
        switch kind {
        case "webm":
            try await make([
                "-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-threads", "1", "-c:a", "libvorbis",
                "bars.webm",
            ])
            return ("bars.webm", nil)
        case "hls":
            try await make(Self.h264 + ["-hls_time", "2", "-hls_list_size", "0", "bars.m3u8"])
            let server = try ChildProcess(
                #require(Programs.installed("python3")),
                ["-m", "http.server", "\(port)", "--bind", "127.0.0.1", "--directory", folder.file("").path], in: folder
            )
            try await listens("tcp")
            return ("http://127.0.0.1:\(port)/bars.m3u8", server)
        case "rtmp":
            let url = "rtmp://127.0.0.1:\(port)/app/key"
            let server = try ffmpeg(["-re"] + Self.source + Self.h264 + ["-f", "flv", "-listen", "1", url])
            try await listens("tcp")
            return (url, server)
        default:
            let url = "srt://127.0.0.1:\(port)"
            let server = try ffmpeg(["-re"] + Self.source + Self.h264 + ["-f", "mpegts", "\(url)?mode=listener"])
            try await listens("udp")
            return (url, server)
        }
    }

    private func listens(_ table: String) async throws {
        let entry = ":" + String(format: "%04X", Int(port)) + " " + (table == "tcp" ? "00000000:0000 0A" : "")
        try await eventually("the server listens", within: .seconds(20)) {
            try String(contentsOfFile: "/proc/net/\(table)", encoding: .utf8).contains(entry) ? true : nil
        }
    }

    private func ask(
        _ relay: RelayProgram, _ method: String, _ path: String, _ body: String? = nil, token: String? = nil
    ) async throws -> (status: Int, body: Data) {
        var request = URLRequest(url: try #require(URL(string: relay.url("/rooms/demo" + path))))
        request.httpMethod = method
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        request.httpBody = body.map { Data($0.utf8) }
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        let (data, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, data)
    }

    @discardableResult
    private func player(
        _ id: String, of relay: RelayProgram, where condition: (Player) -> Bool
    ) async throws -> Player {
        var last: Player?
        return try await eventually("the player as expected: \(last as Any)", within: .seconds(60)) {
            let answer = try await ask(relay, "GET", "/players/\(id)")
            guard answer.status == 200 else { return nil }
            let player = try JSONDecoder().decode(Player.self, from: answer.body)
            last = player
            return condition(player) ? player : nil
        }
    }

    /// The players of the room; none if there is no room.
    private func players(of relay: RelayProgram, token: String? = nil) async throws -> [Player] {
        struct List: Decodable { var players: [Player] }
        let answer = try await ask(relay, "GET", "/players", token: token)
        return answer.status == 200 ? try JSONDecoder().decode(List.self, from: answer.body).players : []
    }

    private func start(_ relay: RelayProgram, _ url: String) async throws -> Player {
        let answer = try await ask(relay, "POST", "/players", #"{"url":"\#(url)","name":"Film"}"#)
        #expect(answer.status == 201, "\(String(decoding: answer.body, as: UTF8.self))")
        return try JSONDecoder().decode(Player.self, from: answer.body)
    }

    /// A relay with a silent viewer, who is sent the film alone.
    private func relay() async throws -> (RelayProgram, viewer: ChildProcess) {
        let relay = try await RelayProgram(
            ["--canvas", "320x180", "--frame-rate", "15", "--player-files", folder.file("").path]
                + ["--players-from", "127.0.0.1", "--recordings", "recordings"], in: folder)
        let viewer = try ChildProcess(
            Programs.product("confclient"),
            ["join", relay.url("/rooms/demo"), "--name", "Ada", "--video", "none", "--audio", "none"]
                + ["--duration", "120", "--quiet", "--snapshot", "ada.png"], in: folder)
        try await relay.participant("Ada", in: "demo")
        return (relay, viewer)
    }

    @Test("people see its picture, and hear its audio", arguments: ["webm", "hls", "rtmp", "srt"])
    func seen(kind: String) async throws {
        let (relay, viewer) = try await relay()
        let (url, server) = try await serve(kind)
        let id = try await start(relay, url).id
        try await player(id, of: relay) { $0.state == "playing" && $0.framesShown > 5 }
        let recording = try await ask(relay, "POST", "/recordings", #"{"mode":"composite"}"#)
        #expect(recording.status == 201, "\(String(decoding: recording.body, as: UTF8.self))")
        let before = try await player(id, of: relay) { _ in true }
        // Two seconds of the film.
        try await player(id, of: relay) { $0.framesShown >= before.framesShown + 50 }
        viewer.signal(SIGINT)
        _ = try await viewer.end(within: .seconds(20))
        let seen = try await ReceivedMedia(video: "ada.png", audio: nil, in: folder)
        #expect(seen.columns.map(\.channels) == RGB.smpteBars, "\(seen.columns)")
        let file = try await eventually("the recording is complete", within: .seconds(30)) {
            FileManager.default.enumerator(atPath: folder.file("recordings").path)?.compactMap { $0 as? String }
                .first { $0.hasSuffix("composite-001.mp4") }
        }
        // The last fragments are written when the recording has ended.
        var tone = 0.0
        try await eventually("more than a second of the tone is recorded: \(tone)", within: .seconds(30)) {
            let path = "recordings/\(file)"
            let recorded = try? await ReceivedMedia(video: path, audio: path, in: folder)
            tone = recorded?.duration(ofTone: 440) ?? 0
            return tone > 1 ? true : nil
        }
        withExtendedLifetime(server) {}
    }

    /// Runs `confclient player` with a subcommand. Returns what it wrote.
    private func control(_ relay: RelayProgram, _ command: String, _ arguments: String...) async throws -> String {
        let child = try ChildProcess(
            Programs.product("confclient"), ["player", command, relay.url("/rooms/demo")] + arguments, in: folder)
        #expect(try await child.end(within: .seconds(20)) == 0, "\(child.errors)")
        return child.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test("a film is paused, sought and ended by confclient, and one that is not there is told of")
    func controlled() async throws {
        let (relay, viewer) = try await relay()
        let (url, _) = try await serve("webm")
        let id = try await control(relay, "start", url, "--name", "Film")
        try await player(id, of: relay) { $0.framesShown > 10 }
        _ = try await control(relay, "set", "Film", "--pause", "--position", "15s")
        let paused = try await player(id, of: relay) { $0.state == "paused" && $0.position >= 14 }
        #expect(paused.position == 15)
        #expect(try await control(relay, "list").contains("\(id)  Film  paused  15 s of 30 s  bars.webm"))
        _ = try await control(relay, "set", "Film", "--resume")
        try await player(id, of: relay) { $0.state == "playing" && $0.position > 16 }
        _ = try await control(relay, "set", id, "--position", "29.5s", "--volume", "0.5")
        #expect(try await player(id, of: relay) { $0.state == "ended" }.reason == "finished")
        let missing = try await control(relay, "start", "none.mp4")
        #expect(try await player(missing, of: relay) { $0.state == "ended" }.reason == "notFound")
        let stopped = try await control(relay, "start", url, "--paused", "--loop")
        try await player(stopped, of: relay) { $0.state == "paused" }
        _ = try await control(relay, "end", "bars")
        #expect(try await player(stopped, of: relay) { $0.state == "ended" }.reason == "stopped")
        withExtendedLifetime(viewer) {}
    }

    @Test("a stream whose server is killed waits, and goes on when the server is back")
    func killed() async throws {
        let (relay, viewer) = try await relay()
        let (url, server) = try await serve("srt")
        let id = try await start(relay, url).id
        try await player(id, of: relay) { $0.framesShown > 25 }
        server?.signal(SIGKILL)
        let waiting = try await player(id, of: relay) { $0.state == "waiting" }
        let (_, second) = try await serve("srt")
        let again = try await player(id, of: relay) { $0.state == "playing" }
        #expect(again.framesShown >= waiting.framesShown, "what is counted does not begin anew")
        try await player(id, of: relay) { $0.state == "playing" && $0.framesShown > waiting.framesShown + 25 }
        withExtendedLifetime((viewer, second)) {}
    }

    // MARK: Streams that are pushed

    /// Pushes to the relay with another program. Returns nil if the program is not installed.
    private func push(_ kind: String, room: String, key: String) throws -> ChildProcess {
        let rtmp = "rtmp://127.0.0.1:\(port)/\(room)/\(key)"
        let srt = "srt://127.0.0.1:\(port)?streamid=\(room)/\(key)"
        switch kind {
        case "ffmpeg rtmp": return try ffmpeg(["-re"] + Self.source + Self.h264 + ["-f", "flv", rtmp])
        case "ffmpeg srt": return try ffmpeg(["-re"] + Self.source + Self.h264 + ["-f", "mpegts", srt])
        default:
            let sink =
                kind == "gstreamer rtmp"
                ? ["flvmux", "streamable=true", "name=mux", "!", "rtmp2sink", "location=\(rtmp)"]
                : [
                    "mpegtsmux", "alignment=7", "name=mux", "!", "srtsink", "uri=srt://127.0.0.1:\(port)",
                    "streamid=\(room)/\(key)",
                ]
            return try ChildProcess(
                #require(Programs.installed("gst-launch-1.0")),
                sink + [
                    "videotestsrc", "is-live=true", "pattern=smpte", "!",
                    "video/x-raw,width=320,height=180,framerate=25/1",
                    "!", "x264enc", "tune=zerolatency", "speed-preset=ultrafast", "key-int-max=25", "!",
                    "video/x-h264,profile=baseline", "!", "h264parse", "!", "mux.",
                    "audiotestsrc",
                    "is-live=true",
                    "freq=440", "!", "audioconvert", "!", "avenc_aac", "!", "aacparse", "!", "mux.",
                ], in: folder)
        }
    }

    @Test(
        "streams that are pushed become members of their rooms",
        arguments: ["ffmpeg rtmp", "ffmpeg srt", "gstreamer rtmp", "gstreamer srt"])
    func pushed(kind: String) async throws {
        let relay = try await RelayProgram(
            [
                "--canvas", "320x180", "--frame-rate", "15", kind.hasSuffix("srt") ? "--srt-port" : "--rtmp-port",
                "\(port)",
            ],
            in: folder)
        let viewer = try ChildProcess(
            Programs.product("confclient"),
            ["join", relay.url("/rooms/demo"), "--name", "Ada", "--video", "none", "--audio", "none"]
                + ["--duration", "120", "--quiet", "--snapshot", "ada.png"], in: folder)
        try await relay.participant("Ada", in: "demo")
        let publisher = try push(kind, room: "demo", key: "Studio")
        try await eventually("it plays; \(publisher.errors)", within: .seconds(60)) {
            try await players(of: relay).first.flatMap { $0.state == "playing" && $0.framesShown > 25 ? $0 : nil }
        }
        try await relay.participant("Studio", in: "demo")
        viewer.signal(SIGINT)
        _ = try await viewer.end(within: .seconds(20))
        let seen = try await ReceivedMedia(video: "ada.png", audio: nil, in: folder)
        #expect(seen.columns.map(\.channels) == RGB.smpteBars, "\(seen.columns)")
        // The room has ended with its last person, and the publisher's connection with the room.
        _ = try await publisher.end(within: .seconds(30))
    }

    @Test("a stream without a good key is refused", arguments: ["ffmpeg rtmp", "ffmpeg srt"])
    func wrongKey(kind: String) async throws {
        let key = try ChildProcess(Programs.product("confrelay"), ["key"], in: folder)
        #expect(try await key.end(within: .seconds(20)) == 0)
        try Data(key.output.utf8).write(to: folder.file("keys.json"))
        let relay = try await RelayProgram(
            ["--auth-keys", "keys.json", kind.hasSuffix("srt") ? "--srt-port" : "--rtmp-port", "\(port)"], in: folder)
        let token = try ChildProcess(
            Programs.product("confrelay"),
            ["token", "--auth-keys", "keys.json", "--room", "demo", "--name", "Ada", "--role", "moderator"], in: folder)
        #expect(try await token.end(within: .seconds(20)) == 0, "\(token.errors)")
        let proof = token.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let viewer = try ChildProcess(
            Programs.product("confclient"),
            ["join", relay.url("/rooms/demo"), "--token", proof, "--video", "none", "--audio", "none", "--quiet"],
            in: folder)
        func isTaken(_ key: String) async throws -> Bool {
            let before = try await players(of: relay, token: proof).map(\.id)
            let publisher = try push(kind, room: "demo", key: key)
            defer { publisher.signal(SIGKILL) }
            return try await eventually("a stream is played, or refused", within: .seconds(60)) {
                guard publisher.isRunning else { return false }
                let new = try await players(of: relay, token: proof).first { !before.contains($0.id) }
                return new?.state == "playing" ? true : nil
            }
        }
        // The room is there once its first person is.
        try await eventually("a good key is taken", within: .seconds(60)) { try await isTaken(proof) ? true : nil }
        #expect(try await !isTaken("Studio"))
        withExtendedLifetime(viewer) {}
    }
}
