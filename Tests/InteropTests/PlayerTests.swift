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
    private static let h264 = ["-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-pix_fmt", "yuv420p", "-c:a", "aac"]

    private func ffmpeg(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(
            #require(Programs.installed("ffmpeg")), ["-nostdin", "-v", "error", "-y"] + arguments, in: folder)
    }

    private func make(_ arguments: [String]) async throws {
        let child = try ffmpeg(Self.source + ["-t", "60"] + arguments)
        #expect(try await child.end(within: .seconds(60)) == 0, "\(child.errors)")
    }

    /// Makes a film or a stream of one kind. Returns its URL and the program that serves it.
    private func serve(_ kind: String) async throws -> (url: String, server: ChildProcess?) {
        switch kind {
        case "webm":
            try await make(["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libvorbis", "bars.webm"])
            return ("bars.webm", nil)
        case "hls":
            try await make(Self.h264 + ["-hls_time", "2", "-hls_list_size", "0", "bars.m3u8"])
            let server = try ChildProcess(
                #require(Programs.installed("python3")),
                ["-m", "http.server", "\(port)", "--bind", "127.0.0.1", "--directory", folder.file("").path], in: folder)
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
        _ relay: RelayProgram, _ method: String, _ path: String, _ body: String? = nil
    ) async throws -> (status: Int, body: Data) {
        var request = URLRequest(url: try #require(URL(string: relay.url("/rooms/demo" + path))))
        request.httpMethod = method
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
        try await player(id, of: relay) { $0.state == "playing" && $0.framesShown > 25 }
        let recording = try await ask(relay, "POST", "/recordings", #"{"mode":"composite"}"#)
        #expect(recording.status == 201, "\(String(decoding: recording.body, as: UTF8.self))")
        let before = try await player(id, of: relay) { _ in true }
        // Four seconds of the film.
        try await player(id, of: relay) { $0.framesShown >= before.framesShown + 100 }
        viewer.signal(SIGINT)
        _ = try await viewer.end(within: .seconds(20))
        let seen = try await ReceivedMedia(video: "ada.png", audio: nil, in: folder)
        #expect(seen.columns.map(\.channels) == RGB.smpteBars, "\(seen.columns)")
        let file = try await eventually("the recording is complete", within: .seconds(30)) {
            FileManager.default.enumerator(atPath: folder.file("recordings").path)?.compactMap { $0 as? String }
                .first { $0.hasSuffix("composite-001.mp4") }
        }
        let recorded = try await eventually("the recording can be read", within: .seconds(30)) {
            try? await ReceivedMedia(video: "recordings/\(file)", audio: "recordings/\(file)", in: folder)
        }
        #expect(recorded.duration(ofTone: 440) > 2)
        withExtendedLifetime(server) {}
    }

    @Test("a film is paused, sought and ended, and one that is not there is told of")
    func controlled() async throws {
        let (relay, viewer) = try await relay()
        let (url, _) = try await serve("webm")
        let id = try await start(relay, url).id
        try await player(id, of: relay) { $0.framesShown > 10 }
        #expect(try await ask(relay, "PUT", "/players/\(id)", #"{"paused":true,"position":30}"#).status == 204)
        let paused = try await player(id, of: relay) { $0.state == "paused" && $0.position >= 29 }
        #expect(paused.position == 30)
        #expect(try await ask(relay, "PUT", "/players/\(id)", #"{"paused":false}"#).status == 204)
        try await player(id, of: relay) { $0.state == "playing" && $0.position > 31 }
        #expect(try await ask(relay, "PUT", "/players/\(id)", #"{"position":59.5}"#).status == 204)
        #expect(try await player(id, of: relay) { $0.state == "ended" }.reason == "finished")
        let missing = try await start(relay, "none.mp4").id
        #expect(try await player(missing, of: relay) { $0.state == "ended" }.reason == "notFound")
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
        try await player(id, of: relay) { $0.state == "playing" && $0.framesShown > waiting.framesShown + 25 }
        withExtendedLifetime((viewer, second)) {}
    }
}
