import Foundation
import Logging
import MediaCore
import NIOCore
import PeerConnection
import RoomAPI
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer
@testable import RoomMedia

/// The files of a recording, also if the disk does not keep up.
@Suite struct RecordingTests {
    private static let camera = RecordingTrack(participant: "ada", content: .camera)
    private let disk = FakeDisk()

    private static func format(_ width: Int) -> VideoFormatDescription {
        let dimensions = VideoDimensions(width: width, height: 90)
        return VideoFormatDescription(
            parameterSets: [
                ByteBuffer(bytes: [0x67, 0x42, 0xC0, 0x1E, UInt8(truncatingIfNeeded: width)]),
                ByteBuffer(bytes: [0x68, 0xCE, 0x3C, 0x80]),
            ],
            properties: .init(
                profileLevel: .init(profileIDC: 0x42, constraintFlags: 0xC0, levelIDC: 0x1E), dimensions: dimensions,
                codedDimensions: dimensions))
    }

    /// A frame of 30 a second; every tenth is a keyframe.
    private func frame(
        _ index: Int, size: Int = 1000, width: Int = 160, rotation: VideoRotation = .none
    ) -> RecordingItem {
        let time = MediaTime(value: Int64(index) * 3000, timescale: 90_000)
        let sample = SampleBuffer(
            data: BlockBuffer(ByteBuffer(repeating: 1, count: size)), format: Self.format(width),
            presentationTime: time, isSync: index.isMultiple(of: 10))
        return RecordingItem(
            recording: "r1", track: Self.camera, at: time.duration, content: .video(sample, rotation))
    }

    private func folder(minimumFreeSpace: DataSize = .zero) -> RecordingFolder {
        RecordingFolder(
            path: "/recordings/r1", manifest: RecordingManifest(id: "r1", room: "demo", began: "2026-01-01T00:00:00Z"),
            files: disk, minimumFreeSpace: minimumFreeSpace, now: .zero)
    }

    private func timeline() throws -> [RecordingTimelineEntry] {
        try disk.text("timeline.jsonl").split(separator: "\n").map {
            try JSONDecoder().decode(RecordingTimelineEntry.self, from: Data($0.utf8))
        }
    }

    private func manifest() throws -> RecordingManifest {
        try JSONDecoder().decode(RecordingManifest.self, from: Data(disk.text("recording.json").utf8))
    }

    @Test("a stream that changes its size goes on in another file, and no frame is missing")
    func sizeChange() throws {
        let folder = folder()
        try folder.open()
        for index in 0..<45 { try folder.write(frame(index, width: index < 20 ? 160 : 320), now: .zero) }
        folder.close(.stopped, at: .seconds(2), ended: "2026-01-01T00:00:02Z")
        let files = try manifest().files
        #expect(files.map(\.path) == ["tracks/ada-camera-001.mp4", "tracks/ada-camera-002.mp4"])
        #expect(files.map(\.samples) == [20, 25])
        #expect(files.map(\.width) == [160, 320])
        #expect(abs(files[1].start - 20.0 / 30) < 0.001)
        #expect(try manifest().reason == .stopped)
    }

    @Test("a composite's pictures and sound lie in one file, and its sound goes on with its pictures after a loss")
    func composite() async throws {
        func picture(_ index: Int) -> RecordingItem {
            var item = frame(index)
            item.track = .composite
            return item
        }
        func sound(_ milliseconds: Int64) -> RecordingItem {
            let time = MediaTime(value: milliseconds * 48, timescale: 48_000)
            return RecordingItem(
                recording: "r1", track: .composite, at: time.duration,
                content: .audio(
                    BlockBuffer(ByteBuffer(bytes: [0xF8, 0xFF, 0xFE])), time: time,
                    duration: MediaTime(value: 960, timescale: 48_000)))
        }
        let folder = folder()
        try folder.open()
        // Nothing is written before the first picture.
        try folder.write(sound(0), now: .zero)
        for index in 0..<30 {
            try folder.write(picture(index), now: .zero)
            try folder.write(sound(Int64(index) * 33), now: .zero)
        }
        folder.close(.stopped, at: .seconds(1), ended: "2026-01-01T00:00:01Z")
        let files = try manifest().files
        #expect(files.map(\.path) == ["tracks/composite-001.mp4"])
        #expect(files.map(\.samples) == [60])
        #expect(boxesEndExactly(disk.state.withLock { $0.files["/recordings/r1/tracks/composite-001.mp4"] } ?? .init()))

        let queue = RecordingQueue(limit: DataSize(bytes: 9000), budget: RecordingQueue.Budget())
        let writer = RecordingWriter(
            queue: queue, now: { .zero }, make: { [self] in self.folder() }, onFailure: { _, _ in }, onEnd: {})
        disk.stall()
        var session = RecordingSession(room: "demo", writer: writer, state: RoomState(id: "demo"), now: .zero)
        while session.record(picture(0)) || queue.offer(picture(10)) {}
        // The next picture is lost, and sound waits for a keyframe, although there is room for it.
        #expect(session.record(picture(1)) == false)
        disk.resume()
        try await eventually { queue.isRoomy }
        #expect(session.record(sound(40)) == false)
        #expect(session.record(picture(2)) == true)
        queue.end(.stopped, at: .zero)
    }

    @Test("the way in which pictures are to be turned stands in the timeline", arguments: [false, true])
    func rotation(pauses: Bool) throws {
        let folder = folder()
        try folder.open()
        for index in 0..<20 {
            let item = frame(index, rotation: index < 10 ? .clockwise90 : .none)
            let end = RecordingItem(recording: "r1", track: item.track, at: item.at, content: .trackEnded)
            if pauses, index == 10 { try folder.write(end, now: .zero) }
            try folder.write(item, now: .zero)
        }
        let rotations = try timeline().compactMap { entry -> Int? in
            if case .rotation(Self.camera, let degrees) = entry.event { degrees } else { nil }
        }
        #expect(rotations == [90, 0])
    }

    @Test("a full disk ends the recording, and leaves whole fragments")
    func full() throws {
        disk.state.withLock { $0.capacity = 100_000 }
        let folder = folder()
        try folder.open()
        var failure: RecordingFileError?
        for index in 0..<300 where failure == nil {
            do {
                try folder.write(frame(index), now: .zero)
            } catch {
                failure = error as? RecordingFileError
            }
        }
        #expect(failure?.isDiskFull == true)
        let before = disk.state.withLock { $0.files["/recordings/r1/tracks/ada-camera-001.mp4"]?.readableBytes } ?? 0
        folder.close(.diskFull, at: .seconds(10), ended: "")
        let bytes = disk.state.withLock { $0.files["/recordings/r1/tracks/ada-camera-001.mp4"] } ?? ByteBuffer()
        #expect(bytes.readableBytes > 20_000 && bytes.readableBytes <= before)
        #expect(boxesEndExactly(bytes))
    }

    @Test("a disk that is full when a track ends leaves whole fragments, and the manifest has the file")
    func fullAtEnd() throws {
        let folder = folder()
        try folder.open()
        for index in 0..<40 { try folder.write(frame(index, size: 10_000), now: .zero) }
        // A part of the last fragment fits, which is written 64 KiB at a time.
        disk.state.withLock { state in
            state.capacity = state.files.values.reduce(100_000) { $0 + $1.readableBytes }
        }
        let end = RecordingItem(recording: "r1", track: Self.camera, at: .seconds(2), content: .trackEnded)
        #expect(throws: RecordingFileError.self) { try folder.write(end, now: .zero) }
        folder.close(.diskFull, at: .seconds(2), ended: "")
        let bytes = disk.state.withLock { $0.files["/recordings/r1/tracks/ada-camera-001.mp4"] } ?? ByteBuffer()
        #expect(bytes.readableBytes > 100_000)
        #expect(boxesEndExactly(bytes))
        #expect(try manifest().files.map(\.path) == ["tracks/ada-camera-001.mp4"])
    }

    /// True if a file is a row of whole boxes.
    private func boxesEndExactly(_ file: ByteBuffer) -> Bool {
        var rest = file
        while rest.readableBytes >= 8 {
            guard let size = rest.getInteger(at: rest.readerIndex, as: UInt32.self), size >= 8,
                rest.readSlice(length: Int(size)) != nil
            else { return false }
        }
        return rest.readableBytes == 0
    }

    @Test("a recording ends when the disk has less free space than is to be kept")
    func floor() throws {
        let folder = folder(minimumFreeSpace: DataSize(bytes: 1000))
        try folder.open()
        try folder.tick(now: .zero + .seconds(2))
        disk.state.withLock { $0.free = DataSize(bytes: 999) }
        #expect(throws: RecordingFileError.self) { try folder.tick(now: .zero + .seconds(4)) }
    }

    @Test("while nothing is added, a fragment is written out all the same")
    func idle() throws {
        let folder = folder()
        try folder.open()
        for index in 0..<5 { try folder.write(frame(index), now: .zero) }
        func size() -> Int {
            disk.state.withLock { $0.files["/recordings/r1/tracks/ada-camera-001.mp4"]?.readableBytes ?? 0 }
        }
        #expect(size() < 5000)
        try folder.tick(now: .zero + .seconds(2))
        #expect(size() > 5000)
    }

    @Test("a disk that stalls loses whole runs of pictures, which the timeline tells, and asks for one keyframe")
    func stalled() async throws {
        let queue = RecordingQueue(limit: DataSize(bytes: 400_000), budget: RecordingQueue.Budget())
        let writer = RecordingWriter(
            queue: queue, now: { .zero }, make: { [self] in folder() },
            onFailure: { _, error in
                Issue.record(error)
            }, onEnd: {})
        var session = RecordingSession(room: "demo", writer: writer, state: RoomState(id: "demo"), now: .zero)
        let before = (0..<35).filter { session.record(frame($0)) }
        try await eventually { queue.isRoomy }
        disk.stall()
        // More than the queue takes; nobody is asked for a keyframe while the disk stands.
        let during = (35..<335).filter { session.record(frame($0)) }
        disk.resume()
        try await eventually { queue.isRoomy }
        let asked = (335..<340).filter { session.record(frame($0)) }
        let after = (340..<360).filter { session.record(frame($0)) }
        #expect((before, during, asked, after) == ([], [], [335], []))
        session.record(
            .recordingChanged(RecordingStatus(id: "r1", state: .ended, reason: .stopped)), now: .zero + .seconds(12))
        await writer.waitUntilFinished(timeout: .seconds(30))
        let gaps = try timeline().compactMap { entry -> (from: Double, until: Double)? in
            guard case .gap(Self.camera, let until, .slowDisk) = entry.event else { return nil }
            return (entry.at, until)
        }
        #expect(gaps.count == 1)
        let gap = try #require(gaps.first)
        #expect(abs(gap.until - 340.0 / 30) < 0.001)
        let written = try manifest().files.compactMap(\.samples).reduce(0, +)
        // All before the gap, and all behind it.
        #expect(written == Int((gap.from * 30).rounded()) + 20)
        #expect(try manifest().reason == .stopped)
    }

    @Test("a queue that is full takes the end of a track")
    func endOfTrack() {
        let limit = DataSize(bytes: 8192)
        let queue = RecordingQueue(limit: limit, budget: RecordingQueue.Budget(limit: limit))
        while queue.offer(frame(0)) {}
        #expect(queue.offer(RecordingItem(recording: "r1", track: Self.camera, at: .zero, content: .trackEnded)))
    }

    @Test("what was lost before a sender's clock jumped still needs a keyframe after that")
    func jumpInLoss() async throws {
        let queue = RecordingQueue(limit: DataSize(bytes: 8500), budget: RecordingQueue.Budget())
        let writer = RecordingWriter(
            queue: queue, now: { .zero }, make: { [self] in folder() }, onFailure: { _, _ in }, onEnd: {})
        disk.stall()
        var session = RecordingSession(room: "demo", writer: writer, state: RoomState(id: "demo"), now: .zero)
        while queue.offer(frame(0)) {}
        #expect(session.record(frame(1)) == false)
        let jump = RecordingItem(recording: "r1", track: Self.camera, at: .zero, content: .anchored)
        #expect(session.record(jump) == false)
        disk.resume()
        try await eventually { queue.isRoomy }
        #expect(session.record(frame(2)) == true)
        queue.end(.stopped, at: .zero)
    }

    @Test("a keyframe that was asked for, and finds the queue full again, is asked for once more")
    func lostKeyframe() async throws {
        let queue = RecordingQueue(limit: DataSize(bytes: 8500), budget: RecordingQueue.Budget())
        let writer = RecordingWriter(
            queue: queue, now: { .zero }, make: { [self] in folder() }, onFailure: { _, _ in }, onEnd: {})
        var session = RecordingSession(room: "demo", writer: writer, state: RoomState(id: "demo"), now: .zero)
        #expect(session.record(frame(1, size: 10_000)) == false)
        #expect(session.record(frame(2)) == true)
        disk.stall()
        while queue.offer(frame(0)) {}
        #expect(session.record(frame(10)) == false)
        disk.resume()
        try await eventually { queue.isRoomy }
        #expect(session.record(frame(11)) == true)
        queue.end(.stopped, at: .zero)
    }

    @Test("mutes, names and speakers stand in the timeline, and what does not change them does not")
    func timelineOfRoom() async throws {
        let writer = RecordingWriter(
            queue: RecordingQueue(budget: RecordingQueue.Budget()), now: { .zero }, make: { [self] in folder() },
            onFailure: { _, error in Issue.record(error) }, onEnd: {})
        var ada = ParticipantSummary(id: "a1", name: "Ada", role: .sendAndReceive, microphone: true, camera: true)
        var session = RecordingSession(
            room: "demo", writer: writer, state: RoomState(id: "demo", participants: [ada]), now: .zero)
        ada.connection = .connected
        session.record(.participantChanged(ada), now: .zero + .seconds(1))
        ada.microphone = false
        session.record(.participantChanged(ada), now: .zero + .seconds(2))
        session.record(.activeSpeakerChanged(id: "a1"), now: .zero + .seconds(3))
        session.record(.layoutChanged(.speaker), now: .zero + .seconds(4))
        session.record(.participantLeft(id: "a1"), now: .zero + .seconds(5))
        session.record(
            .recordingChanged(RecordingStatus(id: "r1", state: .ended, reason: .roomClosed)), now: .zero + .seconds(6))
        await writer.waitUntilFinished(timeout: .seconds(30))
        let muted = RecordedParticipant(ada)
        var joined = muted
        joined.microphone = true
        #expect(
            try timeline() == [
                RecordingTimelineEntry(at: 0, .joined(joined)),
                RecordingTimelineEntry(at: 0, .layout(.grid)),
                RecordingTimelineEntry(at: 0, .speaker(participant: nil)),
                RecordingTimelineEntry(at: 2, .changed(muted)),
                RecordingTimelineEntry(at: 3, .speaker(participant: "a1")),
                RecordingTimelineEntry(at: 4, .layout(.speaker)),
                RecordingTimelineEntry(at: 5, .left(participant: "a1")),
                RecordingTimelineEntry(at: 6, .ended(.roomClosed)),
            ])
    }

    @Test("recordings whose files are closed are not kept in mind")
    func manyEnded() async throws {
        let (store, folder) = try store([])
        defer { try? FileManager.default.removeItem(at: folder) }
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var hub = RecordingHub(store: store, files: disk, logger: logger, now: { .zero }, onFailure: { _, _, _ in })
        for number in 1...10 {
            let status = RecordingStatus(id: "r\(number)", state: .ended, reason: .stopped)
            hub.begin(status.id, room: "demo", mode: .tracks, state: RoomState(id: "demo"), now: .zero)
            hub.record(RoomEvent(room: "demo", kind: .recordingChanged(status)), now: .zero)
            let manifest = "\(status.id)/\(RecordingManifest.fileName)"
            try await eventually { disk.text(manifest).contains("\"ended\"") }
        }
        #expect(hub.takeEnding().count < 5)
    }

    // MARK: The folder of all recordings

    private func store(
        keep: Duration? = nil, _ recordings: [(id: String, room: String, ended: String?)]
    ) throws -> (RecordingStore, URL) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recordings-\(UUID())")
        var settings = RecordingSettings(folder: folder.path)
        settings.keep = keep
        let store = try RecordingStore(settings: settings)
        for recording in recordings {
            var manifest = RecordingManifest(id: recording.id, room: recording.room, began: "2026-01-01T00:00:00Z")
            manifest.ended = recording.ended
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(recording.id), withIntermediateDirectories: true)
            try JSONEncoder().encode(manifest).write(
                to: folder.appendingPathComponent("\(recording.id)/recording.json"))
        }
        return (store, folder)
    }

    @Test("recordings are listed by room, the newest first, and told from those that were interrupted")
    func list() throws {
        let (store, folder) = try store([
            ("20260101T000000Z-aaaaaa", "demo", "2026-01-01T01:00:00Z"), ("20260102T000000Z-bbbbbb", "demo", nil),
            ("20260103T000000Z-cccccc", "other", nil),
        ])
        defer { try? FileManager.default.removeItem(at: folder) }
        store.begin(RecordingManifest(id: "20260103T000000Z-cccccc", room: "other", began: "2026-01-01T00:00:00Z"))
        #expect(store.recordings(ofRoom: "demo").map(\.state) == [.interrupted, .complete])
        #expect(store.recordings().map(\.state) == [.recording, .interrupted, .complete])
    }

    @Test("a recording that goes on is not deleted, nor anything beside the recordings")
    func delete() throws {
        let (store, folder) = try store([("20260101T000000Z-aaaaaa", "demo", nil)])
        defer { try? FileManager.default.removeItem(at: folder) }
        store.begin(RecordingManifest(id: "20260101T000000Z-aaaaaa", room: "demo", began: "2026-01-01T00:00:00Z"))
        #expect(store.delete("20260101T000000Z-aaaaaa") == .isActive)
        #expect(store.delete("..") == .noSuchRecording)
        #expect(store.delete("20260101T000000Z-aaaaaa/../x") == .noSuchRecording)
        store.end("20260101T000000Z-aaaaaa")
        #expect(store.delete("20260101T000000Z-aaaaaa") == .deleted)
        #expect(store.recordings().isEmpty)
    }

    @Test("recordings are deleted when they have been kept for as long as was asked for")
    func retention() throws {
        let (store, folder) = try store(
            keep: .seconds(3600),
            [
                ("20260101T000000Z-aaaaaa", "demo", "2026-01-01T01:00:00Z"),
                ("20260101T000000Z-bbbbbb", "demo", "2026-01-01T03:00:00Z"),
            ])
        defer { try? FileManager.default.removeItem(at: folder) }
        let now = try Date("2026-01-01T03:30:00Z", strategy: .iso8601)
        #expect(store.deleteExpired(now: now) == ["20260101T000000Z-aaaaaa"])
        #expect(store.recordings().map(\.id) == ["20260101T000000Z-bbbbbb"])
    }

    @Test("ids tell the time, sort by it, and differ at the same time")
    func ids() throws {
        var generator = SeededGenerator(seed: 1)
        let date = try Date("2026-11-24T22:15:01Z", strategy: .iso8601)
        let ids = (0..<200).map { RecordingStore.makeID(at: date + Double($0 / 2), using: &generator) }
        #expect(ids[0].hasPrefix("20261124T221501Z-") && ids[198].hasPrefix("20261124T221640Z-"))
        #expect(Set(ids).count == 200)
        #expect(zip(ids, ids.dropFirst(2)).allSatisfy { $0 < $1 })
    }
}
