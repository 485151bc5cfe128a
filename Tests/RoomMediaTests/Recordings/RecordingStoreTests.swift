import Foundation
import MediaCore
import RoomAPI
import Synchronization
import Testing

@testable import RoomMedia

/// The folder of all recordings, with all that may be in it.
@Suite struct RecordingStoreTests {
    @Test("a recording whose manifest cannot be read is deleted as others are")
    func damagedManifest() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recordings-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = RecordingSettings(folder: folder.path)
        settings.keep = .seconds(3600)
        let store = try RecordingStore(settings: settings)
        func makeDamaged(_ id: String) throws {
            let path = folder.appendingPathComponent(id)
            try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
            for name in ["recording.json", "timeline.jsonl"] {
                try Data("{".utf8).write(to: path.appendingPathComponent(name))
            }
        }
        try makeDamaged("20260101T000000Z-aaaaaa")
        #expect(store.delete("20260101T000000Z-aaaaaa") == .deleted)
        try makeDamaged("20260101T000000Z-bbbbbb")
        #expect(store.deleteExpired(now: .now).isEmpty)
        #expect(store.deleteExpired(now: .now.addingTimeInterval(7200)) == ["20260101T000000Z-bbbbbb"])
    }

    /// A folder of recordings, and a store that counts the manifests that it reads.
    private final class CountedStore: Sendable {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recordings-\(UUID())")
        let store: RecordingStore
        private let count: Reads

        private final class Reads: Sendable {
            let number = Mutex(0)
        }

        init(keep: Duration? = nil) throws {
            var settings = RecordingSettings(folder: folder.path)
            settings.keep = keep
            let count = Reads()
            self.count = count
            store = try RecordingStore(settings: settings) { path in
                count.number.withLock { $0 += 1 }
                return FileManager.default.contents(atPath: path)
            }
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func write(_ id: String, room: String, ended: String? = nil) throws {
            var manifest = RecordingManifest(id: id, room: room, began: "2026-01-01T00:00:00Z")
            manifest.ended = ended
            try write(JSONEncoder().encode(manifest), to: id)
        }

        func write(_ manifest: Data, to id: String) throws {
            let path = folder.appendingPathComponent(id)
            try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
            // In place of the file that was there, as a recording's end writes it.
            try manifest.write(to: path.appendingPathComponent(RecordingManifest.fileName), options: .atomic)
        }

        var readings: Int { count.number.withLock { $0 } }
    }

    @Test("what has not changed in the folder is read once, whatever is asked for")
    func unchangedManifests() throws {
        let files = try CountedStore(keep: .seconds(3600))
        for number in 0..<20 {
            try files.write("20260101T0000\(10 + number)Z-aaaaaa", room: number < 3 ? "demo" : "other")
        }
        try files.write(Data("{".utf8), to: "20260101T000009Z-damaged")
        #expect(files.store.recordings(ofRoom: "demo").count == 3)
        #expect(files.readings == 21)
        #expect(files.store.recordings(ofRoom: "demo").count == 3)
        #expect(files.store.recordings(ofRoom: "other").count == 17)
        #expect(files.store.recordings().count == 20)
        #expect(files.store.recording("20260101T000010Z-aaaaaa")?.room == "demo")
        #expect(files.store.deleteExpired(now: .distantPast).isEmpty)
        #expect(files.readings == 21)
    }

    @Test("a manifest that has changed is seen at once, and read alone")
    func changedManifest() throws {
        let files = try CountedStore()
        let id = "20260101T000000Z-aaaaaa"
        try files.write(id, room: "demo")
        try files.write("20260101T000000Z-bbbbbb", room: "demo")
        #expect(files.store.recordings().map(\.state) == [.interrupted, .interrupted])
        try files.write(id, room: "demo", ended: "2026-01-01T01:00:00Z")
        #expect(files.store.recordings().map(\.state) == [.interrupted, .complete])
        #expect(files.readings == 3)
        // As large as before: only the file is another one.
        try files.write(id, room: "main", ended: "2026-01-01T01:00:00Z")
        #expect(files.store.recording(id)?.room == "main" && files.readings == 4)
        files.store.begin(RecordingManifest(id: id, room: "main", began: "2026-01-01T00:00:00Z"))
        #expect(files.store.recording(id)?.state == .recording)
        files.store.end(id)
        #expect(files.store.recording(id)?.state == .complete && files.readings == 4)
        #expect(files.store.delete(id) == .deleted)
        #expect(files.store.recordings().map(\.id) == ["20260101T000000Z-bbbbbb"])
    }

    @Test("no more recordings are remembered than a limit says, and those that are gone make room")
    func boundedMemory() throws {
        let files = try CountedStore()
        for id in ["a", "b", "c"] { try files.write(id, room: "demo") }
        let reads = Mutex<[String]>([])
        let cache = ManifestCache(capacity: 2) { path in
            reads.withLock { $0.append(path) }
            return FileManager.default.contents(atPath: path)
        }
        func look(_ id: String) {
            let path = files.folder.appendingPathComponent("\(id)/recording.json").path
            #expect(cache.description(of: id, manifest: path) != nil)
        }
        for id in ["a", "b", "c", "a", "b", "c"] { look(id) }
        #expect(reads.withLock { $0.count } == 4)
        cache.keepFirst(of: ["c", "b", "a"])
        for id in ["c", "b", "c", "b"] { look(id) }
        #expect(reads.withLock { $0.count } == 5)
    }
}
