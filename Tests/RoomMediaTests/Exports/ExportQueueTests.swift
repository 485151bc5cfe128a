import Foundation
import Logging
import MediaCore
import MediaFiles
import RoomAPI
import Synchronization
import Testing

@testable import RoomMedia

/// Films that a relay makes of its recordings.
@Suite("Exports", .serialized) struct ExportQueueTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("exports-\(UUID())")
    private let request = ExportRequest(canvas: "160x90", frameRate: 15, bitrate: 100_000)

    /// A queue whose thread has the priority of other tests, which leave one of a lower priority next to no time.
    private func queue(checkSpace: @escaping @Sendable () throws -> Void = {}) -> ExportQueue {
        ExportQueue(
            path: { [folder] in folder.appendingPathComponent($0).path }, checkSpace: checkSpace, priority: 0)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent("r1/exports").path).sorted()
    }

    @Test("are made one after the other, and lie in the recording's folder")
    func made() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try RecordedCall(in: folder).record(seconds: 3)
        let queue = queue()
        let first = try queue.add(request, recording: "r1")
        let second = try queue.add(ExportRequest(canvas: "320x180", quality: 0.5), recording: "r1")
        #expect(first.state == .queued && first.files == nil)
        try await eventually { queue.exports(recording: "r1").allSatisfy { $0.state == .complete } }
        let films = queue.exports(recording: "r1")
        #expect(Set(films.map(\.id)) == [first.id, second.id])
        for film in films {
            #expect(film.files == ["mp4", "vtt", "png"].map { "exports/\(film.id).\($0)" })
            let path = folder.appendingPathComponent("r1/exports/\(film.id).mp4").path
            #expect(try MovieReader(path: path).duration.map { abs($0.seconds - 3) < 0.2 } == true)
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == film.size)
        }
        #expect(try names().count == 8)
        for name in try names() {
            let path = folder.appendingPathComponent("r1/exports/\(name)").path
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        #expect(try queue.remove(first.id, recording: "r1"))
        #expect(try names().count == 4)
        #expect(try !queue.remove(first.id, recording: "r1"))
    }

    @Test("wait while calls need the machine, and nothing is left of a film that is cancelled")
    func paused() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try RecordedCall(in: folder).record(seconds: 3)
        let queue = queue()
        queue.setLoad(isHigh: true)
        let film = try queue.add(request, recording: "r1")
        try await eventually { queue.export(film.id, recording: "r1")?.state == .paused }
        #expect(try queue.remove(film.id, recording: "r1"))
        #expect(queue.export(film.id, recording: "r1") == nil)
        #expect(try names() == [])
        let other = try queue.add(request, recording: "r1")
        try await eventually { queue.export(other.id, recording: "r1")?.state == .paused }
        queue.setLoad(isHigh: false)
        try await eventually { queue.export(other.id, recording: "r1")?.state == .complete }
    }

    @Test("leave nothing if they are removed and done all the same")
    func removedAndDone() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try RecordedCall(in: folder).record(seconds: 3)
        let queue = queue()
        queue.setLoad(isHigh: true)
        let film = try queue.add(request, recording: "r1")
        try await eventually { try names().contains("\(film.id).mp4.export") }
        // A request that removes a film does so when it has waited too long for the thread.
        try FileManager.default.removeItem(at: folder.appendingPathComponent("r1/exports/\(film.id).json"))
        queue.setLoad(isHigh: false)
        try await eventually { !queue.isBusy }
        #expect(try names() == [])
    }

    @Test("go on when a relay that was ended is started again, and are the same film")
    func resumed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try RecordedCall(in: folder).record(seconds: 3)
        let whole = queue()
        let expected = try whole.add(request, recording: "r1")
        try await eventually { whole.export(expected.id, recording: "r1")?.state == .complete }
        let ended = queue()
        let film = try ended.add(request, recording: "r1")
        // A test that waits goes on when another one leaves it a thread, and then the film may be complete.
        let limit = ContinuousClock.now + .seconds(120)
        while let export = ended.export(film.id, recording: "r1"), export.state == .queued || export.state == .running,
            export.pass ?? 0 == 0
        {
            try #require(ContinuousClock.now < limit)
            sched_yield()
        }
        ended.close()
        #expect(ended.export(film.id, recording: "r1")?.state == .queued)
        let next = queue()
        next.resume(["r1", "none"], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await eventually { next.export(film.id, recording: "r1")?.state == .complete }
        func data(_ id: String) throws -> Data {
            try Data(contentsOf: folder.appendingPathComponent("r1/exports/\(id).mp4"))
        }
        #expect(try data(film.id) == data(expected.id))
    }

    @Test("that a relay left undone are all taken up, also when there are more than may wait")
    func manyResumed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let recordings = (1...6).map { "r\($0)" }
        for recording in recordings {
            let path = folder.appendingPathComponent(recording)
            try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
            let exports = ExportFolder(recording: recording, recordingPath: path.path)
            for _ in 0..<7 {
                try exports.save(
                    RecordingExport(
                        id: ExportFolder.makeID(), recording: recording, state: .queued, request: request))
            }
        }
        let queue = queue()
        queue.resume(recordings, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        // There is a place for a new one, too.
        _ = try queue.add(request, recording: "r6")
        try await eventually { !queue.isBusy }
        // None can be made, as there is nothing in the recordings, but each had its turn.
        let states = recordings.flatMap { queue.exports(recording: $0).map(\.state) }
        #expect(states.count == 43 && states.allSatisfy { $0 == .failed })
    }

    @Test("of a damaged recording fail, and say why")
    func damaged() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try RecordedCall(in: folder).record(seconds: 1)
        try Data("{".utf8).write(to: folder.appendingPathComponent("r1/recording.json"))
        let queue = queue()
        let film = try queue.add(request, recording: "r1")
        try await eventually { queue.export(film.id, recording: "r1")?.state == .failed }
        #expect(queue.export(film.id, recording: "r1")?.error?.contains("is no recording") == true)
    }

    @Test("that fail on the way leave no work on the disk")
    func failed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try RecordedCall(in: folder).record(seconds: 1)
        let queue = queue()
        let film = try queue.add(ExportRequest(canvas: "160x90", frameRate: 15, size: 1000), recording: "r1")
        try await eventually { queue.export(film.id, recording: "r1")?.state == .failed }
        #expect(queue.export(film.id, recording: "r1")?.error?.contains("too small") == true)
        #expect(try names() == ["\(film.id).json"])
    }

    @Test("end where they would take space that recordings need, also while the film is written")
    func space() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try RecordedCall(in: folder).record(seconds: 1)
        let made = Mutex<ExportQueue?>(nil)
        let shortage = RecordingFileError(path: "r1", isDiskFull: true, reason: "too little space")
        let queue = queue {
            let film = made.withLock { $0 }?.exports(recording: "r1").first
            // All pictures are encoded.
            if film?.pass == 1, film?.progress == 1 { throw shortage }
        }
        made.withLock { $0 = queue }
        defer { made.withLock { $0 = nil } }
        let film = try queue.add(
            ExportRequest(canvas: "160x90", frameRate: 15, quality: 0.5), recording: "r1")
        try await eventually { !queue.isBusy }
        #expect(queue.export(film.id, recording: "r1")?.state == .failed)
        #expect(queue.export(film.id, recording: "r1")?.error == "\(shortage)")
        #expect(try names() == ["\(film.id).json"])
    }

    @Test("that wait are bounded")
    func bounded() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try RecordedCall(in: folder).record(seconds: 1)
        let queue = queue()
        queue.setLoad(isHigh: true)
        defer { queue.close() }
        #expect(throws: ExportQueue.Refusal.queueFull) {
            // One of them is under way and waits for the calls.
            for _ in 0..<(ExportQueue.capacity + 2) { _ = try queue.add(request, recording: "r1") }
        }
    }

    @Test(
        "are refused where an option is not possible",
        arguments: [
            ExportRequest(layout: "pinned"), ExportRequest(canvas: "1x1"), ExportRequest(canvas: "x"),
            ExportRequest(canvas: "1281x720"), ExportRequest(frameRate: 0), ExportRequest(frameRate: 61),
            ExportRequest(bitrate: -1), ExportRequest(size: 0), ExportRequest(quality: 2), ExportRequest(quality: .nan),
            ExportRequest(bitrate: 100_000, size: 5), ExportRequest(size: .max, quality: 0.5),
        ])
    func options(request: ExportRequest) {
        #expect(throws: FilmOptionError.self) { try FilmOptions(request) }
    }
}
