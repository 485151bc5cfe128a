import Foundation
import FoundationNetworking
import Glibc
import Testing

/// Films that `confrelay archive` and the relay make of recordings of real calls.
@Suite("Films of recordings", .serialized)
struct ArchiveTests {
    private static let hasFFmpeg = Programs.areInstalled("ffprobe", "ffmpeg")

    private func relay(in folder: TemporaryFolder) async throws -> RelayProgram {
        try await RelayProgram(["--canvas", "320x180", "--frame-rate", "15", "--recordings", "rec"], in: folder)
    }

    /// Records two people, of whom the second comes later. Returns the recording's id.
    private func record(_ relay: RelayProgram, seconds: Int, in folder: TemporaryFolder) async throws -> String {
        func join(_ name: String) throws -> ChildProcess {
            try ChildProcess(
                Programs.product("confclient"),
                ["join", relay.url("/rooms/demo"), "--name", name, "--size", "320x180", "--frame-rate", "15"]
                    + ["--duration", "60", "--quiet"], in: folder)
        }
        func record(_ verb: String) async throws -> String {
            let child = try ChildProcess(
                Programs.product("confclient"), ["record", verb, relay.url("/rooms/demo")], in: folder)
            #expect(try await child.end(within: .seconds(20)) == 0, "\(child.errors)")
            return child.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let ada = try join("Ada")
        defer { ada.signal(SIGKILL) }
        try await relay.participant("Ada", in: "demo") { $0.uplink.framesDecoded > 0 }
        let id = try await record("start")
        try await Task.sleep(for: .seconds(1))
        let ben = try join("Ben <b>")
        defer { ben.signal(SIGKILL) }
        try await relay.participant("Ben <b>", in: "demo") { $0.uplink.framesDecoded > 0 }
        try await Task.sleep(for: .seconds(seconds))
        _ = try await record("stop")
        try await eventually("the recording is complete", within: .seconds(20)) {
            try await state(of: "/recordings/\(id)", at: relay)["state"] as? String == "complete" ? true : nil
        }
        return id
    }

    private func archive(_ id: String, _ arguments: [String], in folder: TemporaryFolder) throws -> ChildProcess {
        try ChildProcess(
            Programs.product("confrelay"),
            ["archive", "rec/\(id)", "--canvas", "320x180", "--frame-rate", "15"] + arguments, in: folder)
    }

    private func run(_ program: String, _ arguments: [String], in folder: TemporaryFolder) async throws -> ChildProcess
    {
        let child = try ChildProcess(#require(Programs.installed(program)), arguments, in: folder)
        #expect(try await child.end(within: .seconds(60)) == 0, "\(child.errors)")
        return child
    }

    private func send(
        _ method: String, _ path: String, _ body: String? = nil, to relay: RelayProgram
    ) async throws -> (status: Int, json: [String: Any]) {
        var request = URLRequest(url: try #require(URL(string: relay.url(path))))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        let (data, response) = try await URLSession.shared.data(for: request)
        let json = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, json ?? [:])
    }

    private func state(of path: String, at relay: RelayProgram) async throws -> [String: Any] {
        try await send("GET", path, to: relay).json
    }

    @Test(
        "have chapters, captions, a poster, the loudness and the size that were promised",
        .enabled(if: hasFFmpeg, "needs ffmpeg: make test installs it"))
    func film() async throws {
        let folder = try TemporaryFolder()
        let relay = try await relay(in: folder)
        let id = try await record(relay, seconds: 8, in: folder)
        let size = 190_000
        let archive = try archive(id, ["-o", "film.mp4", "--size", "\(size)"], in: folder)
        #expect(try await archive.end(within: .seconds(240)) == 0, "\(archive.errors)")
        #expect(abs(folder.size(of: "film.mp4") - size) <= size / 200, "\(folder.size(of: "film.mp4"))")

        let probe = try await run(
            "ffprobe",
            ["-v", "error", "-show_chapters", "-show_entries", "stream=codec_name", "-of", "json", "film.mp4"],
            in: folder)
        let found = try #require(JSONSerialization.jsonObject(with: Data(probe.output.utf8)) as? [String: Any])
        let codecs = try #require(found["streams"] as? [[String: Any]]).compactMap { $0["codec_name"] as? String }
        #expect(Array(codecs.prefix(2)) == ["h264", "opus"])
        let chapters = try #require(found["chapters"] as? [[String: Any]])
        let titles = chapters.compactMap { ($0["tags"] as? [String: String])?["title"] }
        #expect(titles.count == chapters.count && titles.first?.contains("Ada") == true)
        #expect(titles.contains { $0.contains("Ben <b>") }, "\(titles)")

        let captions = try String(contentsOf: folder.file("film.vtt"), encoding: .utf8)
        #expect(captions.hasPrefix("WEBVTT\n") && captions.contains("Ben &lt;b&gt; joins"), "\(captions)")
        _ = try await run(
            "ffmpeg", ["-v", "error", "-xerror", "-i", "film.vtt", "-f", "srt", "captions.srt"], in: folder)
        _ = try await run("ffmpeg", ["-v", "error", "-xerror", "-i", "film.mp4", "-f", "null", "-"], in: folder)
        let poster = try await run(
            "ffprobe", ["-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", "film.png"], in: folder
        )
        #expect(poster.output.trimmingCharacters(in: .whitespacesAndNewlines) == "320,180")

        // ffmpeg's own meter of EBU R 128.
        let meter = try await run(
            "ffmpeg", ["-nostats", "-i", "film.mp4", "-map", "a", "-af", "ebur128=peak=true", "-f", "null", "-"],
            in: folder)
        let summary = meter.errors.split(separator: "Integrated loudness:").last.map(String.init) ?? ""
        let loudness = try #require(summary.firstMatch(of: #/I: +(-?[0-9.]+) LUFS/#).flatMap { Double($0.1) })
        let peak = try #require(summary.firstMatch(of: #/Peak: +(-?[0-9.]+) dBFS/#).flatMap { Double($0.1) })
        #expect(abs(loudness + 23) <= 0.5, "\(loudness) LUFS")
        #expect(peak <= -1, "\(peak) dB")
    }

    @Test("are the same to the byte however often the program was killed, and leave nothing else")
    func killed() async throws {
        let folder = try TemporaryFolder()
        let relay = try await relay(in: folder)
        let id = try await record(relay, seconds: 4, in: folder)
        let arguments = ["--bitrate", "300k"]
        let whole = try archive(id, ["-o", "whole.mp4"] + arguments, in: folder)
        let began = ContinuousClock.now
        #expect(try await whole.end(within: .seconds(240)) == 0, "\(whole.errors)")
        let duration = ContinuousClock.now - began
        // At a tenth of the time, at two tenths, and so on: later runs have less to do.
        var kills = 0
        for tenth in 1...10 {
            let killed = try archive(id, ["-o", "film.mp4"] + arguments, in: folder)
            try await Task.sleep(for: duration * tenth / 10)
            if killed.isRunning { kills += 1 }
            killed.signal(SIGKILL)
            _ = try await killed.end(within: .seconds(10))
            if FileManager.default.fileExists(atPath: folder.file("film.mp4").path) { break }
        }
        #expect(kills >= 2)
        let last = try archive(id, ["-o", "film.mp4"] + arguments, in: folder)
        #expect(try await last.end(within: .seconds(240)) == 0, "\(last.errors)")
        for ending in ["mp4", "vtt", "png"] {
            let data = try Data(contentsOf: folder.file("film.\(ending)"))
            #expect(try data == Data(contentsOf: folder.file("whole.\(ending)")), "\(ending)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("film.mp4.export").path))
    }

    @Test("are made by the relay, which tells how far they are, and cancels them")
    func exports() async throws {
        let folder = try TemporaryFolder()
        let relay = try await relay(in: folder)
        let id = try await record(relay, seconds: 3, in: folder)
        let path = "/recordings/\(id)/exports"
        #expect(try await send("POST", path, #"{"canvas":"1x1"}"#, to: relay).status == 422)
        #expect(try await send("POST", "/recordings/none/exports", "{}", to: relay).status == 404)
        let first = try await send("POST", path, #"{"canvas":"320x180","frameRate":15,"bitrate":200000}"#, to: relay)
        #expect(first.status == 201 && first.json["state"] as? String == "queued")
        let second = try await send("POST", path, #"{"layout":"speaker"}"#, to: relay)
        let cancelled = try #require(second.json["id"] as? String)
        #expect(try await send("DELETE", "\(path)/\(cancelled)", to: relay).status == 204)
        #expect(try await send("GET", "\(path)/\(cancelled)", to: relay).status == 404)
        let film = try #require(first.json["id"] as? String)
        let done = try await eventually("the film is made", within: .seconds(240)) {
            let state = try await self.state(of: "\(path)/\(film)", at: relay)
            return ["complete", "failed"].contains(state["state"] as? String) ? state : nil
        }
        #expect(done["state"] as? String == "complete", "\(done)")
        #expect(done["files"] as? [String] == ["mp4", "vtt", "png"].map { "exports/\(film).\($0)" })
        #expect(folder.size(of: "rec/\(id)/exports/\(film).mp4") == done["size"] as? Int)
        #expect(try await send("DELETE", "\(path)/\(film)", to: relay).status == 204)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.file("rec/\(id)/exports").path)
        #expect(left == [])
    }
}
