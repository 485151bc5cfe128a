import Foundation
import MediaCore
import RoomAPI
import Testing

@testable import RoomMedia

@Suite("The folder of a recording")
struct RecordingFolderTests {
    @Test("ends the recording when somebody has removed or moved it", arguments: [true, false])
    func gone(isMoved: Bool) throws {
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("recordings-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: place) }
        let path = "\(place)/r1"
        let folder = RecordingFolder(
            path: path, manifest: RecordingManifest(id: "r1", room: "demo", began: "2026-01-01T00:00:00Z"),
            files: SystemRecordingFiles(), minimumFreeSpace: .zero, now: .zero)
        try folder.open()
        try folder.tick(now: .zero + .seconds(2))
        if isMoved {
            try FileManager.default.moveItem(atPath: path, toPath: "\(place)/elsewhere")
        } else {
            try FileManager.default.removeItem(atPath: path)
        }
        #expect(throws: RecordingFileError(path: path, isDiskFull: false, reason: "the folder is gone")) {
            try folder.tick(now: .zero + .seconds(4))
        }
        folder.close(.failed, at: .seconds(4), ended: "2026-01-01T00:00:04Z")
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
