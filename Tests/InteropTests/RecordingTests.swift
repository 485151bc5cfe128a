import Foundation
import FoundationNetworking
import Glibc
import Testing

/// Recordings that the relay makes of real calls.
@Suite("Recordings of rooms", .serialized)
struct RecordingTests {
    private static let hasFFmpeg = Programs.areInstalled("ffprobe")

    private func client(_ arguments: [String], in folder: TemporaryFolder) throws -> ChildProcess {
        try ChildProcess(Programs.product("confclient"), arguments, in: folder)
    }

    /// Joins a client whose pictures keep their size: a track goes on in another file with another size.
    private func ada(_ relay: RelayProgram, in folder: TemporaryFolder) throws -> ChildProcess {
        try client(
            ["join", relay.url("/rooms/demo"), "--name", "Ada", "--size", "320x180", "--frame-rate", "15"]
                + ["--no-follow-demand", "--duration", "60", "--quiet"], in: folder)
    }

    /// The folder of the only recording.
    private func recording(in folder: TemporaryFolder) throws -> URL? {
        let parent = folder.file("rec")
        return try FileManager.default.contentsOfDirectory(atPath: parent.path).first.map(parent.appendingPathComponent)
    }

    private func tracks(of recording: URL) -> [URL] {
        let tracks = recording.appendingPathComponent("tracks")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: tracks.path)) ?? []
        return names.sorted().map(tracks.appendingPathComponent)
    }

    /// Until when a file plays, in seconds, from its packets.
    private func length(of file: URL, in folder: TemporaryFolder) async throws -> Double {
        let probe = try ChildProcess(
            #require(Programs.installed("ffprobe")),
            ["-v", "error", "-show_entries", "packet=pts_time", "-of", "csv=p=0", file.path], in: folder)
        #expect(try await probe.end(within: .seconds(30)) == 0, "\(probe.errors)")
        return probe.output.split(whereSeparator: \.isNewline)
            .compactMap { Double($0.split(separator: ",").first ?? "") }.max() ?? 0
    }

    @Test(
        "a relay that is killed loses a second of its recording at most, whenever that is",
        .enabled(if: hasFFmpeg, "needs ffprobe: make test installs it"))
    func killed() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(
            ["--canvas", "320x180", "--frame-rate", "15", "--record-all", "rec"], in: folder)
        let ada = try ada(relay, in: folder)
        defer { ada.signal(SIGKILL) }
        try await relay.participant("Ada", in: "demo") { $0.uplink.framesReceived > 0 }
        let found = try await eventually("a recording with three tracks", within: .seconds(60)) {
            try recording(in: folder).flatMap { tracks(of: $0).count == 3 ? $0 : nil }
        }
        // A file's copy has what a relay would have left that was killed then.
        let began = ContinuousClock.now
        var left: [(files: URL, seconds: Double)] = []
        for time in [2.6, 3.9, 5.3] {
            try await Task.sleep(until: began + .seconds(time))
            let copy = folder.file("after-\(time)")
            left.append((copy, (ContinuousClock.now - began) / .seconds(1)))
            try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                at: found.appendingPathComponent("tracks"), to: copy.appendingPathComponent("tracks"))
        }
        try await Task.sleep(until: began + .seconds(7.75))
        left.append((found, (ContinuousClock.now - began) / .seconds(1)))
        relay.child.signal(SIGKILL)
        _ = try await relay.child.end(within: .seconds(5))
        for (files, seconds) in left {
            #expect(tracks(of: files).count == 3)
            for file in tracks(of: files) {
                let length = try await length(of: file, in: folder)
                #expect(length > seconds - 1, "\(file.lastPathComponent): \(length) s of \(seconds) s")
            }
        }
    }

    @Test(
        "a composite has pictures and sound from a keyframe on, and a killed relay loses a second of it at most",
        .enabled(if: hasFFmpeg, "needs ffprobe: make test installs it"))
    func composite() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(
            ["--canvas", "320x180", "--frame-rate", "15", "--recordings", "rec"], in: folder)
        let ada = try ada(relay, in: folder)
        defer { ada.signal(SIGKILL) }
        try await relay.participant("Ada", in: "demo") { $0.uplink.framesDecoded > 0 }
        let start = try client(
            ["record", "start", relay.url("/rooms/demo"), "--composite", "--size", "256x144", "--bitrate", "400k"],
            in: folder)
        #expect(try await start.end(within: .seconds(20)) == 0, "\(start.errors)")
        let began = ContinuousClock.now
        let found = try await eventually("a film", within: .seconds(20)) {
            try recording(in: folder).flatMap { tracks(of: $0).first }
        }
        try await Task.sleep(for: .seconds(5.3))
        let recorded = ContinuousClock.now - began
        relay.child.signal(SIGKILL)
        _ = try await relay.child.end(within: .seconds(5))
        #expect(found.lastPathComponent == "composite-001.mp4")
        let probe = try ChildProcess(
            #require(Programs.installed("ffprobe")),
            ["-v", "error", "-show_entries", "packet=codec_type,pts_time,flags", "-of", "csv=p=0", found.path],
            in: folder)
        #expect(try await probe.end(within: .seconds(30)) == 0, "\(probe.errors)")
        let expected = Double(recorded.components.seconds) + Double(recorded.components.attoseconds) / 1e18
        for kind in ["video", "audio"] {
            let packets = probe.output.split(whereSeparator: \.isNewline).filter { $0.hasPrefix(kind) }
                .map { $0.split(separator: ",") }
            let times = packets.compactMap { $0.count > 1 ? Double($0[1]) : nil }
            #expect(try #require(times.max()) > expected - 1.4, "\(kind)")
            #expect(try #require(times.min()) < 0.05, "\(kind)")
            if kind == "video" {
                let keyframes = zip(packets, times).filter { $0.0.last?.contains("K") == true }.map(\.1)
                #expect(keyframes.first == times.first)
                #expect(zip(keyframes, keyframes.dropFirst()).allSatisfy { abs($1 - $0 - 2) < 0.3 }, "\(keyframes)")
            }
        }
    }

    @Test("a recording is started, listed, stopped and deleted, and its files have no names in them")
    func life() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(
            ["--canvas", "320x180", "--frame-rate", "15", "--recordings", "rec"], in: folder)
        let ada = try ada(relay, in: folder)
        defer { ada.signal(SIGKILL) }
        try await relay.participant("Ada", in: "demo") { $0.uplink.framesDecoded > 0 }
        let room = relay.url("/rooms/demo")
        func record(_ arguments: String...) async throws -> (code: Int32, output: String, errors: String) {
            let child = try client(["record"] + arguments, in: folder)
            let code = try await child.end(within: .seconds(60))
            return (code, child.output.trimmingCharacters(in: .whitespacesAndNewlines), child.errors)
        }
        let before = try await record("stop", room)
        #expect(before.code == 69 && before.errors == "confclient: \(room) is not recorded\n")
        let none = try await record("list", room)
        #expect(none.code == 0 && none.output.isEmpty)
        #expect(none.errors == "confclient: there are no recordings of \(room)\n")
        let id = try await record("start", room).output
        #expect(try await record("start", room).code == 69)
        try await eventually("three tracks", within: .seconds(60)) {
            tracks(of: folder.file("rec/\(id)")).count == 3 ? true : nil
        }
        try await Task.sleep(for: .seconds(2))
        #expect(try await record("list", room).output.hasPrefix("\(id)  recording"))
        #expect(try await record("stop", room).output == id)
        #expect(try await record("list", room).output.hasPrefix("\(id)  complete"))
        let names = tracks(of: folder.file("rec/\(id)")).map(\.lastPathComponent)
        #expect(names.count == 3 && names.allSatisfy { !$0.contains("Ada") }, "\(names)")

        var request = URLRequest(url: try #require(URL(string: relay.url("/recordings/\(id)"))))
        request.httpMethod = "DELETE"
        let (_, response) = try await URLSession.shared.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 204)
        #expect(!FileManager.default.fileExists(atPath: folder.file("rec/\(id)").path))
    }
}
