import Conference
import Dispatch
import Foundation
import Logging
import MediaCore
import RoomAPI
import RoomMedia

/// The outputs of a relay's rooms, as its loop sees them.
struct OutputHub {
    /// Makes the connections of an output.
    typealias Connector = @Sendable (StreamServer) -> OutputThread.Connect

    /// An output that goes on.
    private struct Session {
        var room: String
        var name: String?
        var url: String
        var thread: OutputThread
    }

    /// The most outputs at the same time, with those whose threads have not ended yet.
    static let maximumOutputs = 32
    /// The ended outputs of a room that are listed, the newest.
    private static let endedOfRoom = 8
    /// The most that waits in the queues of all outputs, beyond what each has for itself.
    private static let sharedQueueLimit = DataSize(bytes: 64 << 20)

    private let logger: Logger
    private let connector: Connector
    /// Is told on the output's thread.
    private let onNews: @Sendable (_ room: String, _ id: String, OutputLifecycle.News) -> Void
    private let budget = RecordingQueue.Budget(limit: sharedQueueLimit)
    private var sessions: [String: Session] = [:]
    /// In the order in which they began.
    private var order: [String] = []
    /// The outputs of a room that have ended, until the room ends.
    private var ended: [String: [OutputDescription]] = [:]
    /// Threads that have been told to end.
    private var ending: [OutputThread] = []
    /// Of outputs whose threads have ended.
    private var past = OutputCounters()

    init(
        logger: Logger, connector: @escaping Connector,
        onNews: @escaping @Sendable (_ room: String, _ id: String, OutputLifecycle.News) -> Void
    ) {
        self.logger = logger
        self.connector = connector
        self.onNews = onNews
    }

    /// Returns true if there is room for another output.
    mutating func hasRoom() -> Bool {
        sweep()
        return sessions.count + ending.count < Self.maximumOutputs
    }

    /// Starts the thread of an output, which sends the composite of this id.
    mutating func begin(_ id: String, room: String, name: String?, target: StreamServer) {
        let thread = OutputThread(
            queue: OutputQueue(budget: budget), onNews: { [onNews] news in onNews(room, id, news) },
            connect: connector(target))
        sessions[id] = Session(room: room, name: name, url: target.shown, thread: thread)
        order.append(id)
        logger.notice("output begins", metadata: ["room": "\(room)", "output": "\(id)", "url": "\(target.shown)"])
    }

    /// Takes a sample. Returns whether it belongs to an output, and its room if that is to have a keyframe.
    func record(_ item: RecordingItem) -> (isTaken: Bool, keyframe: String?) {
        guard let session = sessions[item.recording] else { return (false, nil) }
        return (true, session.thread.queue.offer(item) ? session.room : nil)
    }

    /// Takes what happened in a room.
    mutating func record(_ event: RoomEvent) {
        switch event.kind {
        case .outputChanged(let status):
            log(status, room: event.room)
            if status.state == .ended { end(status) }
        case .closed: ended[event.room] = nil
        default: return
        }
    }

    private func log(_ status: OutputStatus, room: String) {
        var metadata: Logger.Metadata = ["room": "\(room)", "output": "\(status.id)"]
        if let reason = status.reason { metadata["reason"] = "\(reason.rawValue)" }
        switch status.state {
        case .connecting: return
        case .live: logger.notice("output live", metadata: metadata)
        case .waiting: logger.warning("output interrupted; it is tried again", metadata: metadata)
        case .ended: logger.notice("output ended", metadata: metadata)
        }
    }

    private mutating func end(_ status: OutputStatus) {
        guard let session = sessions.removeValue(forKey: status.id) else { return }
        order.removeAll { $0 == status.id }
        session.thread.end(status.reason ?? .stopped)
        ending.append(session.thread)
        let last = description(status.id, session)
        ended[session.room] = Array(((ended[session.room] ?? []) + [last]).suffix(Self.endedOfRoom))
    }

    /// Lets go of threads that have ended.
    private mutating func sweep() {
        // Each is asked once: one that ends between two questions would be forgotten without its figures.
        var others: [OutputThread] = []
        for thread in ending {
            if thread.isFinished { past.add(thread) } else { others.append(thread) }
        }
        ending = others
    }

    /// The outputs whose threads may not have ended yet.
    mutating func takeEnding() -> [OutputThread] {
        defer { ending = [] }
        return ending
    }

    // MARK: Looking

    /// The outputs of a room: those that go on in their order, then the last ones that have ended.
    func descriptions(ofRoom room: String) -> [OutputDescription] {
        let active = order.compactMap { id in
            sessions[id].flatMap { $0.room == room ? description(id, $0) : nil }
        }
        return active + (ended[room] ?? []).reversed()
    }

    /// An output of a room; nil if there is none of this id.
    func description(of id: String, room: String) -> OutputDescription? {
        if let session = sessions[id] { return session.room == room ? description(id, session) : nil }
        return ended[room]?.first { $0.id == id }
    }

    private func description(_ id: String, _ session: Session) -> OutputDescription {
        session.thread.description(id: id, name: session.name, url: session.url, date: .now)
    }

    var counters: OutputCounters {
        var counters = past
        for state in OutputStatus.State.allCases where state != .ended { counters.states[state] = 0 }
        for session in sessions.values {
            counters.states[session.thread.state, default: 0] += 1
            counters.add(session.thread)
        }
        for thread in ending { counters.add(thread) }
        return counters
    }
}
