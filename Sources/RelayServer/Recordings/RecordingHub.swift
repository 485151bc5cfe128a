import Conference
import Dispatch
import Foundation
import Logging
import MediaCore
import RoomAPI
import RoomMedia

/// The recordings of a relay's rooms, as its loop sees them.
struct RecordingHub {
    let store: RecordingStore
    private let files: any RecordingFileSystem
    private let logger: Logger
    private let now: @Sendable () -> MonotonicInstant
    private let budget = RecordingQueue.Budget()
    private var sessions: [String: RecordingSession] = [:]
    private var ended: [RecordingEndReason: UInt64] = [:]
    /// The writers whose end has been written to the queue.
    private var ending: [RecordingWriter] = []
    /// The rooms whose recording began by itself, or by hand, since they opened.
    private var seenRooms: Set<String> = []
    /// Is told that a recording cannot go on: on the writer's thread, or on the loop where that thread hangs.
    private let onFailure: @Sendable (_ room: String, _ id: String, RecordingEndReason) -> Void

    init(
        store: RecordingStore, files: any RecordingFileSystem = SystemRecordingFiles(), logger: Logger,
        now: @escaping @Sendable () -> MonotonicInstant,
        onFailure: @escaping @Sendable (_ room: String, _ id: String, RecordingEndReason) -> Void
    ) {
        self.store = store
        self.files = files
        self.logger = logger
        self.now = now
        self.onFailure = onFailure
    }

    /// Begins to write a recording. Nothing here waits for the disk.
    mutating func begin(
        _ id: String, room: String, mode: RecordingManifest.Mode, state: RoomState, now time: MonotonicInstant
    ) {
        seenRooms.insert(room)
        ending.removeAll { $0.isFinished }
        let manifest = RecordingManifest(id: id, room: room, mode: mode, began: Date.now.formatted(.iso8601))
        store.begin(manifest)
        let writer = RecordingWriter(
            queue: RecordingQueue(
                budget: budget,
                onOverflow: { [onFailure, logger] in
                    logger.error(
                        "a recording cannot go on: the disk has not answered for long",
                        metadata: ["recording": "\(id)", "room": "\(room)"])
                    onFailure(room, id, .failed)
                }), now: now,
            make: { [store, files] in
                RecordingFolder(
                    path: store.path(of: id), manifest: manifest, files: files,
                    minimumFreeSpace: store.settings.minimumFreeSpace, now: time)
            },
            onFailure: { [onFailure, logger] reason, error in
                logger.error("a recording cannot go on: \(error)", metadata: ["recording": "\(id)", "room": "\(room)"])
                onFailure(room, id, reason)
            },
            onEnd: { [store] in store.end(id) })
        sessions[id] = RecordingSession(room: room, writer: writer, state: state, now: time)
        logger.notice("recording begins", metadata: ["recording": "\(id)", "room": "\(room)"])
    }

    /// Takes a sample. Returns its room if its track is to go on with a keyframe.
    mutating func record(_ item: RecordingItem) -> String? {
        guard let needsKeyframe = sessions[item.recording]?.record(item), needsKeyframe else { return nil }
        return sessions[item.recording]?.room
    }

    /// Takes what happened in a room.
    mutating func record(_ event: RoomEvent, now: MonotonicInstant) {
        for id in sessions.keys where sessions[id]?.room == event.room { sessions[id]?.record(event.kind, now: now) }
        switch event.kind {
        case .recordingChanged(let status) where status.state == .ended:
            guard let session = sessions.removeValue(forKey: status.id) else { return }
            ending.append(session.writer)
            ended[status.reason ?? .failed, default: 0] += 1
            logger.notice(
                "recording ended",
                metadata: [
                    "recording": "\(status.id)", "room": "\(event.room)", "reason": "\(status.reason?.rawValue ?? "")",
                ])
        case .closed: seenRooms.remove(event.room)
        default: return
        }
    }

    /// True if a room in which somebody is now is to be recorded because all are.
    func shouldBegin(room: String) -> Bool { store.settings.recordsAll && !seenRooms.contains(room) }

    /// The writer of a recording that goes on.
    func writer(of id: String) -> RecordingWriter? { sessions[id]?.writer }

    var counters: RecordingCounters { RecordingCounters(active: sessions.count, ended: ended) }

    /// The recordings whose files may not be closed yet.
    mutating func takeEnding() -> [RecordingWriter] {
        defer { ending = [] }
        return ending
    }
}
