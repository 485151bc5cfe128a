import Foundation
import HTTPTypes
import MediaCore
import NIOCore
import RoomAPI
import Testing

@testable import RelayServer
@testable import RoomMedia

/// The files of recordings that clients fetch.
@Suite struct RecordedFileTests {
    private static let id = "20260101T000000Z-aaaaaa"
    private static let path = "/recordings/\(id)/files"
    private static let film = "0123456789"

    /// Asks for a file of a recording that has a film of ten bytes.
    private func get(_ path: String, _ headers: HTTPFields = [:], as method: HTTPRequest.Method = .get) async throws
        -> SignallingClient.Answer
    {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var client = SignallingClient()
        client.recordings = try RecordingStore(settings: RecordingSettings(folder: folder.path))
        let recording = folder.appendingPathComponent(Self.id)
        for name in ["tracks", "other", "exports/film-aaaaaaaa.mp4.export"] {
            try FileManager.default.createDirectory(
                at: recording.appendingPathComponent(name), withIntermediateDirectories: true)
        }
        let files = [
            "tracks/mix-001.mp4": Self.film, "tracks/empty-001.mp4": "", "exports/film-aaaaaaaa.vtt": "WEBVTT",
            "exports/film-aaaaaaaa.mp4.export/pass": "secret", "exports/film-aaaaaaaa.json": "secret",
            "recording.json": "secret", "recording.mp4": "secret", "other/mix-001.mp4": "secret",
            "tracks/.mp4": "secret", "tracks/-.mp4": "secret",
        ]
        for (name, text) in files {
            try Data(text.utf8).write(to: recording.appendingPathComponent(name))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)],
                ofItemAtPath: recording.appendingPathComponent(name).path)
        }
        return try await client.send(method, path, headers: headers)
    }

    @Test("are answered whole, with their type, size and tag")
    func whole() async throws {
        let answer = try await get("\(Self.path)/tracks/mix-001.mp4")
        #expect(answer.status == .ok && answer.body == Self.film)
        #expect(answer.headers[.contentType] == "video/mp4" && answer.headers[.contentLength] == "10")
        #expect(answer.headers[.acceptRanges] == "bytes")
        let tag = try #require(answer.headers[.eTag])
        #expect(try await get("\(Self.path)/tracks/mix-001.mp4", [.ifNoneMatch: tag]).status == .notModified)
        #expect(
            try await get("\(Self.path)/exports/film-aaaaaaaa.vtt").headers[.contentType]?.hasPrefix("text/vtt") == true
        )
        let head = try await get("\(Self.path)/tracks/mix-001.mp4", as: .head)
        #expect(head.status == .ok && head.body.isEmpty && head.headers[.contentLength] == "10")
        #expect(try await get("\(Self.path)/tracks/empty-001.mp4").body.isEmpty)
    }

    @Test(
        "are answered in part where a client asks for one",
        arguments: [
            ("bytes=2-4", "234", "bytes 2-4/10"), ("bytes=7-", "789", "bytes 7-9/10"),
            ("bytes=-3", "789", "bytes 7-9/10"), ("bytes=-99", film, "bytes 0-9/10"),
            ("bytes=8-99999999999999999999", "89", "bytes 8-9/10"),
        ])
    func part(_ range: String, _ text: String, _ place: String) async throws {
        let answer = try await get("\(Self.path)/tracks/mix-001.mp4", [.range: range])
        #expect(answer.status == .partialContent && answer.body == text)
        #expect(answer.headers[.contentRange] == place && answer.headers[.contentLength] == "\(text.utf8.count)")
    }

    @Test("are answered whole where the part cannot be understood, or is of another state of the file")
    func noPart() async throws {
        for range in ["bytes=1-2,4-5", "bytes=5-2", "bytes=", "bytes=-", "bytes=x-", "lines=1-2", "bytes=1--2"] {
            let answer = try await get("\(Self.path)/tracks/mix-001.mp4", [.range: range])
            #expect(answer.status == .ok && answer.body == Self.film, "\(range)")
        }
        let answer = try await get("\(Self.path)/tracks/mix-001.mp4", [.range: "bytes=2-4", .ifRange: "\"other\""])
        #expect(answer.status == .ok)
    }

    @Test("have no part beyond their end")
    func beyond() async throws {
        for (file, range) in [("mix", "bytes=10-"), ("mix", "bytes=-0"), ("empty", "bytes=0-"), ("empty", "bytes=-1")] {
            let answer = try await get("\(Self.path)/tracks/\(file)-001.mp4", [.range: range])
            #expect(answer.status == .rangeNotSatisfiable, "\(file) \(range)")
            #expect(answer.headers[.contentRange] == "bytes */\(file == "mix" ? 10 : 0)")
        }
    }

    @Test(
        "are tracks and films alone",
        arguments: [
            "exports/film-aaaaaaaa.json", "exports/film-aaaaaaaa.mp4.export", "tracks/..", "tracks/../recording.json",
            "exports/film-aaaaaaaa.mp4", "tracks/.mp4", "tracks/%2e%2e%2frecording.mp4", "other/mix-001.mp4",
            "tracks/mix-001.mp4%00", "tracks/-.mp4",
        ])
    func others(_ file: String) async throws {
        #expect(try await get("\(Self.path)/\(file)").status == .notFound)
    }

    @Test("a recording is known as soon as it has begun, before anything of it is on the disk")
    func begun() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("begun-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try RecordingStore(settings: RecordingSettings(folder: folder.path))
        var client = SignallingClient()
        client.recordings = store
        store.begin(RecordingManifest(id: Self.id, room: "demo", began: "2026-01-01T00:00:00Z"))
        let shown = try await client.send(.get, "/rooms/demo/recordings/\(Self.id)")
        #expect(shown.status == .ok && shown.json["state"] as? String == "recording")
        #expect(store.recordings(ofRoom: "demo").map(\.id) == [Self.id] && store.recordings(ofRoom: "other").isEmpty)
        #expect(try await client.send(.delete, "/recordings/\(Self.id)").status == .conflict)
        store.end(Self.id)
        for list in ["/recordings", "/rooms/demo/recordings"] {
            let missing = try await client.send(.get, "\(list)/\(Self.id)")
            #expect(missing.status == .notFound && missing.detail.contains("GET \(list) lists"), "\(missing.detail)")
        }
    }

    @Test("a film needs no wishes, but a recording")
    func filmWithoutBody() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("wishes-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var client = SignallingClient()
        client.recordings = try RecordingStore(settings: RecordingSettings(folder: folder.path))
        let answer = try await client.send(.post, "/recordings/\(Self.id)/exports")
        #expect(answer.status == .notFound && answer.detail.contains("no recording"), "\(answer.body)")
    }

    @Test("a film of a composite, which is one already, is refused at once")
    func composite() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("composite-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var client = SignallingClient()
        client.recordings = try RecordingStore(settings: RecordingSettings(folder: folder.path))
        let recording = folder.appendingPathComponent(Self.id)
        try FileManager.default.createDirectory(at: recording, withIntermediateDirectories: true)
        var manifest = RecordingManifest(id: Self.id, room: "demo", mode: .composite, began: "2026-01-01T00:00:00Z")
        manifest.ended = "2026-01-01T00:01:00Z"
        try JSONEncoder().encode(manifest).write(to: recording.appendingPathComponent(RecordingManifest.fileName))
        let answer = try await client.send(
            .post, "/recordings/\(Self.id)/exports", headers: [.contentType: "application/json"], body: "{}")
        #expect(answer.status == .conflict && answer.detail.contains("a film already"), "\(answer.body)")
        let films = try await client.send(.get, "/recordings/\(Self.id)/exports")
        #expect((films.json["exports"] as? [Any])?.isEmpty == true)
    }
}
