import Conference
import Logging
import MediaCore
import PeerConnection
public import RoomAPI
import RoomMedia

/// The players of a relay's rooms, as its loop sees them.
struct PlayerHub {
    /// Where a player's pictures, audio and news go.
    typealias MakeOutput = @Sendable (_ room: String, _ id: String) -> PlayerThread.Output

    /// A player that goes on.
    private struct Session {
        var room: String
        var url: String
        var thread: PlayerThread
    }

    /// The most players at the same time, with those whose threads have not ended yet.
    static let maximumPlayers = 16
    /// The ended players of a room that are listed, the newest.
    private static let endedOfRoom = 8

    private let rules: PlayerRules
    private let logger: Logger
    private let makeOutput: MakeOutput
    private var sessions: [String: Session] = [:]
    /// In the order in which they began.
    private var order: [String] = []
    /// The players of a room that have ended, until the room ends.
    private var ended: [String: [PlayerDescription]] = [:]
    /// Threads that have been told to end.
    private var ending: [PlayerThread] = []
    /// The counts of players that have ended, and the number of players that began.
    private var counters = PlayerCounters()

    init(rules: PlayerRules, logger: Logger, makeOutput: @escaping MakeOutput) {
        self.rules = rules
        self.logger = logger
        self.makeOutput = makeOutput
    }

    /// Returns true if there is room for another player.
    mutating func hasRoom() -> Bool {
        ending.removeAll { $0.isFinished }
        return sessions.count + ending.count < Self.maximumPlayers
    }

    /// Starts the thread of a player.
    mutating func begin(
        _ status: PlayerStatus, room: String, target: PlayerTarget, settings: PlayerSettings, place: Duration
    ) {
        let thread = PlayerThread(
            target, rules: rules, status: status, settings: settings, place: place,
            output: makeOutput(room, status.id))
        sessions[status.id] = Session(room: room, url: target.shown, thread: thread)
        order.append(status.id)
        counters.started += 1
        logger.notice(
            "player begins", metadata: ["room": "\(room)", "player": "\(status.id)", "url": "\(target.shown)"])
    }

    /// Changes how a player plays.
    func change(_ id: String, room: String, _ change: PlayerChange) throws(PlayerChangeError) {
        guard let session = sessions[id], session.room == room else { throw .noSuchPlayer }
        guard change.position == nil || session.thread.isSeekable else { throw .notSeekable }
        session.thread.change(change)
    }

    /// Sets for what a player's pictures are encoded.
    func setDemand(_ demand: PlayerPictureDemand?, ofPlayer id: String) { sessions[id]?.thread.setDemand(demand) }

    /// The reason for which a player was not changed.
    enum PlayerChangeError: Error {
        case noSuchPlayer, notSeekable
    }

    /// Takes what happened in a room.
    mutating func record(_ event: RoomEvent) {
        switch event.kind {
        case .playerChanged(let status):
            log(status, room: event.room)
            if status.state == .ended { end(status) }
        case .closed: ended[event.room] = nil
        default: return
        }
    }

    private func log(_ status: PlayerStatus, room: String) {
        var metadata: Logger.Metadata = ["room": "\(room)", "player": "\(status.id)"]
        if let reason = status.reason { metadata["reason"] = "\(reason.rawValue)" }
        switch status.state {
        case .opening, .playing, .paused: return
        case .waiting: logger.warning("player interrupted; it is tried again", metadata: metadata)
        case .ended: logger.notice("player ended", metadata: metadata)
        }
    }

    private mutating func end(_ status: PlayerStatus) {
        guard let session = sessions.removeValue(forKey: status.id) else { return }
        order.removeAll { $0 == status.id }
        session.thread.end()
        ending.append(session.thread)
        var last = session.thread.description(url: session.url)
        (last.state, last.reason) = (.ended, status.reason)
        counters.framesShown += last.framesShown
        counters.framesDropped += last.framesDropped
        ended[session.room] = Array(((ended[session.room] ?? []) + [last]).suffix(Self.endedOfRoom))
    }

    /// Ends all players. Returns the threads that may not have ended yet.
    func endAll() -> [PlayerThread] {
        for session in sessions.values { session.thread.end() }
        return ending + sessions.values.map(\.thread)
    }

    // MARK: Looking

    /// The players of a room: those that go on in their order, then the last ones that have ended.
    func descriptions(ofRoom room: String) -> [PlayerDescription] {
        order.compactMap { description(of: $0, room: room) } + (ended[room] ?? []).reversed()
    }

    /// A player of a room; nil if there is none of this id.
    func description(of id: String, room: String) -> PlayerDescription? {
        if let session = sessions[id] {
            return session.room == room ? session.thread.description(url: session.url) : nil
        }
        return ended[room]?.first { $0.id == id }
    }

    /// The figures of all players since the relay started.
    var totals: PlayerCounters {
        var totals = counters
        for state in PlayerStatus.State.allCases where state != .ended { totals.states[state] = 0 }
        for session in sessions.values {
            let description = session.thread.description(url: session.url)
            totals.states[description.state, default: 0] += 1
            totals.framesShown += description.framesShown
            totals.framesDropped += description.framesDropped
        }
        return totals
    }
}

/// The figures of all players of a relay since it started.
public struct PlayerCounters: Sendable {
    /// Players that go on, by what they do now.
    public var states: [PlayerStatus.State: Int] = [:]
    public var started = 0
    public var framesShown = 0
    /// Pictures that were left out, because they came too late.
    public var framesDropped = 0
}
