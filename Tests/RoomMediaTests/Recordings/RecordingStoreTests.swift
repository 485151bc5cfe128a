import Foundation
import MediaCore
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
}
