import Foundation
import Logging
import MediaCore
import RoomAPI
import RoomMediaFixtures
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer
@testable import RoomMedia

/// The relay's view of recordings, beside their files.
@Suite("The recordings of a relay") struct RecordingFailureTests {
    /// The reports of recordings that cannot go on.
    private final class Failures: Sendable {
        let list = Mutex<[String]>([])
    }

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("failures-\(UUID())")
    private let disk = FakeDisk()
    private let failures = Failures()

    private func hub(recordsAll: Bool = false) throws -> RecordingHub {
        var settings = RecordingSettings(folder: folder.path)
        settings.recordsAll = recordsAll
        return RecordingHub(
            store: try RecordingStore(settings: settings), files: disk,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: { .zero },
            onFailure: { [failures] room, id, reason in
                failures.list.withLock { $0.append("\(room) \(id) \(reason.rawValue)") }
            })
    }

    private func end(_ hub: inout RecordingHub, because reason: RecordingEndReason) async {
        let status = RecordingStatus(id: "o1", state: .ended, reason: reason)
        hub.record(RoomEvent(room: "demo", kind: .recordingChanged(status)), now: .zero + .seconds(10))
        for writer in hub.takeEnding() { await writer.waitUntilFinished(timeout: .seconds(60)) }
    }

    private func manifest() throws -> RecordingManifest {
        try JSONDecoder().decode(
            RecordingManifest.self, from: Data(disk.text("o1/\(RecordingManifest.fileName)").utf8))
    }

    @Test("one whose disk is full is told once, with its reason, which stands in its manifest")
    func fullDisk() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        disk.state.withLock { $0.capacity = 100_000 }
        var hub = try hub()
        hub.begin("o1", room: "demo", mode: .tracks, state: RoomState(id: "demo"), now: .zero)
        for index in 0..<300 {
            var picture = CompositeSamples.picture(index, size: 1000)
            picture.track = RecordingTrack(participant: "ada", content: .camera)
            _ = hub.record(picture)
        }
        try await eventually { failures.list.withLock { !$0.isEmpty } }
        #expect(hub.store.delete("o1") == .isActive)
        await end(&hub, because: .diskFull)
        #expect(failures.list.withLock { $0 } == ["demo o1 diskFull"])
        let manifest = try manifest()
        #expect(manifest.reason == .diskFull && manifest.files.count == 1)
        #expect(hub.store.delete("o1") == .noSuchRecording)
    }

    @Test("one is counted while it goes on, and by the reason of its end")
    func counters() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var hub = try hub()
        hub.begin("o1", room: "demo", mode: .tracks, state: RoomState(id: "demo"), now: .zero)
        #expect(hub.counters == RecordingCounters(active: 1))
        await end(&hub, because: .diskFull)
        #expect(hub.counters == RecordingCounters(ended: [.diskFull: 1]))
    }

    @Test("a room that is to be recorded is so from its first participant on, and not again before it has ended")
    func everyRoom() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var hub = try hub(recordsAll: true)
        #expect(hub.shouldBegin(room: "demo"))
        hub.begin("o1", room: "demo", mode: .tracks, state: RoomState(id: "demo"), now: .zero)
        #expect(!hub.shouldBegin(room: "demo") && hub.shouldBegin(room: "other"))
        await end(&hub, because: .stopped)
        #expect(!hub.shouldBegin(room: "demo"), "somebody has stopped it")
        hub.record(RoomEvent(room: "demo", kind: .closed), now: .zero + .seconds(20))
        #expect(hub.shouldBegin(room: "demo"))
        #expect(try manifest().reason == .stopped)
        #expect(failures.list.withLock { $0.isEmpty })
    }
}
