import Foundation
import FoundationNetworking
import Glibc
import Testing

/// Rooms that are sent to real servers: ffmpeg as an RTMP and as an SRT server.
@Suite(
    "Outputs to servers", .serialized,
    .enabled(if: Programs.areInstalled("ffmpeg", "ffprobe"), "needs ffmpeg: make test installs it"))
struct OutputTests {
    private struct Output: Decodable {
        var id: String
        var state: String
        var reason: String?
        var nextTry: String?
        var bytes: Int
        var reconnects: Int
    }

    private let folder: TemporaryFolder
    private let port: UInt16

    init() throws {
        folder = try TemporaryFolder()
        port = try #require(FreePorts.pairs(1).first)
    }

    // MARK: The call

    /// A relay with a call of one.
    private func relay(_ arguments: [String] = []) async throws -> (RelayProgram, ada: ChildProcess) {
        let relay = try await RelayProgram(
            ["--canvas", "320x180", "--frame-rate", "15", "--outputs-to", "127.0.0.1"] + arguments, in: folder)
        let ada = try ChildProcess(
            Programs.product("confclient"),
            ["join", relay.url("/rooms/demo"), "--name", "Ada", "--size", "320x180", "--frame-rate", "15"]
                + ["--duration", "120", "--quiet"], in: folder)
        try await relay.participant("Ada", in: "demo") { $0.uplink.framesDecoded > 0 && $0.downlink.framesEncoded > 0 }
        return (relay, ada)
    }

    private func answer(_ relay: RelayProgram, _ method: String, _ path: String, _ body: String? = nil) async throws
        -> (status: Int, body: Data)
    {
        var request = URLRequest(url: try #require(URL(string: relay.url("/rooms/demo/outputs" + path))))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        let (data, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, data)
    }

    private func start(_ relay: RelayProgram, _ url: String) async throws -> Output {
        let answer = try await answer(relay, "POST", "", #"{"url":"\#(url)","bitRate":500000}"#)
        #expect(answer.status == 201, "\(String(decoding: answer.body, as: UTF8.self))")
        return try JSONDecoder().decode(Output.self, from: answer.body)
    }

    /// Waits until an output is as expected.
    @discardableResult
    private func output(
        _ id: String, of relay: RelayProgram, within limit: Duration = .seconds(60), where condition: (Output) -> Bool
    ) async throws -> Output {
        var last: Output?
        return try await eventually("the output as expected: \(last as Any)", within: limit) {
            let answer = try await answer(relay, "GET", "/\(id)")
            guard answer.status == 200 else { return nil }
            let output = try JSONDecoder().decode(Output.self, from: answer.body)
            last = output
            return condition(output) ? output : nil
        }
    }

    // MARK: The server

    /// A server that writes what it gets to a file, and ends with the stream.
    private func server(_ scheme: String, writing file: String) async throws -> ChildProcess {
        let input =
            scheme == "rtmp"
            ? ["-listen", "1", "-i", url(scheme)] : ["-i", url(scheme) + "?mode=listener"]
        let server = try ChildProcess(
            #require(Programs.installed("ffmpeg")), ["-nostdin", "-v", "error"] + input + ["-c", "copy", file],
            in: folder)
        let table = scheme == "rtmp" ? "tcp" : "udp"
        // The port in hexadecimal, and in TCP the state in which a socket listens.
        let entry = ":" + String(format: "%04X", Int(port)) + " " + (table == "tcp" ? "00000000:0000 0A" : "")
        try await eventually("the server listens: \(server.errors)", within: .seconds(20)) {
            try String(contentsOfFile: "/proc/net/\(table)", encoding: .utf8).contains(entry) ? true : nil
        }
        return server
    }

    private func url(_ scheme: String) -> String {
        scheme == "rtmp" ? "rtmp://127.0.0.1:\(port)/live/key" : "srt://127.0.0.1:\(port)"
    }

    /// Looks at what a server wrote: how long pictures and sound are, and whether they begin and end together.
    private func check(_ file: String, lasts expected: ClosedRange<Double>) async throws {
        let probe = try ChildProcess(
            #require(Programs.installed("ffprobe")),
            ["-v", "error", "-show_entries", "packet=codec_type,pts_time,flags", "-of", "csv=p=0", file], in: folder)
        #expect(try await probe.end(within: .seconds(30)) == 0, "\(probe.errors)")
        let packets = probe.output.split(whereSeparator: \.isNewline).map { $0.split(separator: ",") }
        func times(_ kind: String) -> [Double] {
            packets.compactMap { $0.first ?? "" == kind && $0.count > 1 ? Double($0[1]) : nil }
        }
        let (pictures, sounds) = (times("video"), times("audio"))
        for times in [pictures, sounds] {
            let (first, last) = (try #require(times.min()), try #require(times.max()))
            #expect(expected.contains(last - first), "\(last - first) s")
            #expect(times == times.sorted())
        }
        #expect(abs((pictures.first ?? 0) - (sounds.first ?? 0)) < 0.3)
        #expect(abs((pictures.last ?? 0) - (sounds.last ?? 0)) < 0.5)
        #expect(packets.first { $0.first == "video" }?.last?.contains("K") == true)
        let media = try await ReceivedMedia(video: file, audio: nil, in: folder)
        #expect(Set(media.columns).count > 1, "the last picture is not of one colour: \(media.columns)")
        let first = try ChildProcess(
            #require(Programs.installed("ffmpeg")),
            ["-nostdin", "-v", "error", "-i", file, "-frames:v", "1", "-vf", "scale=1:1", "-pix_fmt", "gray"]
                + ["-f", "rawvideo", "\(file).raw"], in: folder)
        #expect(try await first.end(within: .seconds(30)) == 0, "\(first.errors)")
        #expect(try Data(contentsOf: folder.file("\(file).raw")).first ?? 0 > 40, "the first picture is not black")
    }

    // MARK: Tests

    @Test("a server gets pictures and sound that belong together, and the end", arguments: ["rtmp", "srt"])
    func received(scheme: String) async throws {
        let (relay, ada) = try await relay()
        let server = try await server(scheme, writing: "received.mkv")
        let id = try await start(relay, url(scheme)).id
        try await output(id, of: relay) { $0.state == "live" }
        let began = ContinuousClock.now
        try await Task.sleep(for: .seconds(4))
        #expect(try await answer(relay, "DELETE", "/\(id)").status == 204)
        let lasted = (ContinuousClock.now - began) / .seconds(1)
        _ = try await server.end(within: .seconds(30))
        let ended = try await output(id, of: relay) { $0.state == "ended" }
        #expect(ended.reason == "stopped" && ended.bytes > 100_000 && ended.reconnects == 0)
        try await check("received.mkv", lasts: lasted - 2...lasted + 2)
        withExtendedLifetime(ada) {}
    }

    @Test("a server that is killed and comes back is sent to again, and the call goes on", arguments: ["rtmp", "srt"])
    func killed(scheme: String) async throws {
        let (relay, ada) = try await relay()
        let first = try await server(scheme, writing: "first.mkv")
        let id = try await start(relay, url(scheme)).id
        try await output(id, of: relay) { $0.state == "live" && $0.bytes > 50_000 }
        first.signal(SIGKILL)
        _ = try await first.end(within: .seconds(10))
        let before = try await relay.participant("Ada", in: "demo").downlink.framesEncoded
        let waiting = try await output(id, of: relay) { $0.state == "waiting" }
        #expect(waiting.nextTry != nil && ["connectionLost", "refused"].contains(waiting.reason), "\(waiting)")
        try await relay.participant("Ada", in: "demo") { $0.downlink.framesEncoded > before }
        let second = try await server(scheme, writing: "second.mkv")
        let back = try await output(id, of: relay) { $0.state == "live" && $0.reconnects == 1 }
        try await output(id, of: relay) { $0.bytes > back.bytes + 200_000 }
        // The end of the relay is the end of the stream.
        relay.child.signal(SIGINT)
        #expect(try await relay.child.end(within: .seconds(20)) == 0, "\(relay.child.errors)")
        _ = try await second.end(within: .seconds(30))
        try await check("second.mkv", lasts: 1...60)
        #expect(relay.child.errors.contains("output interrupted"))
        withExtendedLifetime(ada) {}
    }

    @Test("a server that accepts and answers nothing is given up, neither the call nor the relay's end waits for it")
    func silent() async throws {
        let (relay, ada) = try await relay()
        let server = try await server("rtmp", writing: "nothing.mkv")
        // The system accepts connections in its place.
        server.signal(SIGSTOP)
        let id = try await start(relay, url("rtmp")).id
        let before = try await relay.participant("Ada", in: "demo").downlink.framesEncoded
        try await relay.participant("Ada", in: "demo") { $0.downlink.framesEncoded > before + 30 }
        try await output(id, of: relay) { $0.state == "waiting" && $0.reason == "timedOut" }
        try await output(id, of: relay) { $0.state == "connecting" }
        relay.child.signal(SIGTERM)
        #expect(try await relay.child.end(within: .seconds(20)) == 0, "\(relay.child.errors)")
        withExtendedLifetime((ada, server)) {}
    }

    @Test("hosts that were not permitted get nothing, whatever name leads to them")
    func notPermitted() async throws {
        let (relay, ada) = try await relay(["--event-log", "events.ndjson"])
        for (url, status) in [
            ("rtmp://127.0.0.2:\(port)/live/key", 403), ("rtmp://[::1]:\(port)/live/key", 403),
            ("rtmp://192.0.2.1/live/key", 403), ("http://127.0.0.1:\(port)/live/key", 422),
        ] {
            #expect(try await answer(relay, "POST", "", #"{"url":"\#(url)"}"#).status == status, "\(url)")
        }
        // The system reads it as an address of this machine, but it is not the one that is listed.
        let id = try await start(relay, "rtmp://127.2:\(port)/live/key").id
        let ended = try await output(id, of: relay) { $0.state == "ended" }
        #expect(ended.reason == "notPermitted" && ended.bytes == 0)
        try await eventually("the event log tells it", within: .seconds(20)) {
            let text = try? String(contentsOf: folder.file("events.ndjson"), encoding: .utf8)
            return text?.contains("notPermitted") == true ? true : nil
        }
        withExtendedLifetime(ada) {}
    }
}
