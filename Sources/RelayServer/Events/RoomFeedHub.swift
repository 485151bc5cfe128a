import Conference
import MediaCore

/// Brings what happens in rooms to those who follow them.
///
/// A message waits for its follower in a bounded queue. When it overflows, the feed ends as overrun, and the follower
/// begins another one on the same connection: the newest state says more than the messages that it missed.
struct RoomFeedHub {
    /// Messages that wait for one follower.
    static let queueLength = 256
    /// Followers of all rooms together.
    static let maximumFollowers = 384
    /// How long a connection stays without a word.
    static let keepAliveInterval = Duration.seconds(15)
    /// How often `tick` is wanted while anybody follows.
    static let tickInterval = Duration.seconds(1)

    private struct Follower {
        let room: String
        /// Whose statistics are wanted.
        let participant: String?
        let continuation: AsyncStream<RoomFeedMessage>.Continuation
        let overrun: RoomFeed.Overrun
        var lastMessage: MonotonicInstant
        var encoding = EncodingMeter()
    }

    private var followers: [UInt64: Follower] = [:]
    private var nextFollower: UInt64 = 0
    private var lastMessageID: UInt64 = 0
    /// How often a follower was too slow.
    private(set) var overruns: UInt64 = 0
    /// The states that followers were told, by room, until something happens there.
    private var states: [String: RoomFeedMessage] = [:]

    /// How many follow.
    var count: Int { followers.count }

    /// Adds a follower of a room.
    /// - Parameters:
    ///   - state: The room's state; asked for only when something happened since it was last told.
    ///   - onRelease: Is told the follower's number when the feed is no longer held.
    mutating func follow(
        _ room: String, participant: String?, state: () -> RoomState?, now: MonotonicInstant,
        onRelease: @escaping @Sendable (UInt64) -> Void
    ) throws(RoomFeedError) -> RoomFeed {
        guard followers.count < Self.maximumFollowers else {
            throw .tooManyFollowers(limit: Self.maximumFollowers)
        }
        guard let opening = states[room] ?? state().map({ RoomFeedMessage(id: lastMessageID, content: .state($0)) }),
            case .state(let current) = opening.content
        else { throw .noSuchRoom }
        states[room] = opening
        if let participant, !current.participants.contains(where: { $0.id == participant }) { throw .noSuchParticipant }
        let (messages, continuation) = AsyncStream.makeStream(
            of: RoomFeedMessage.self, bufferingPolicy: .bufferingOldest(Self.queueLength))
        let id = nextFollower
        nextFollower += 1
        let overrun = RoomFeed.Overrun()
        followers[id] = Follower(
            room: room, participant: participant, continuation: continuation, overrun: overrun, lastMessage: now)
        return RoomFeed(state: opening, messages: messages, overrun: overrun) { onRelease(id) }
    }

    /// Forgets a follower.
    mutating func remove(_ id: UInt64) {
        followers.removeValue(forKey: id)?.continuation.finish()
    }

    /// Tells a room's followers what happened.
    mutating func publish(_ event: RoomEvent, now: MonotonicInstant) {
        lastMessageID &+= 1
        states[event.room] = nil
        let message = RoomFeedMessage(id: lastMessageID, content: .change(event.kind))
        for id in followers.filter({ $0.value.room == event.room }).keys {
            send(message, to: id, now: now)
            if event.kind == .closed { remove(id) }
        }
    }

    /// Tells statistics to those who want them, and a sign of life to those who heard nothing for long.
    mutating func tick(now: MonotonicInstant, snapshot: (_ room: String) -> RoomSnapshot?) {
        var snapshots: [String: RoomSnapshot] = [:]
        for (id, follower) in followers {
            if let participant = follower.participant {
                let room = snapshots[follower.room] ?? snapshot(follower.room)
                snapshots[follower.room] = room
                if let found = room?.participants.first(where: { $0.id == participant }) {
                    let progress = followers[id]?.encoding.read(found.downlink, now: now)
                    lastMessageID &+= 1
                    let statistics = ParticipantStatistics(found, progress: progress)
                    send(RoomFeedMessage(id: lastMessageID, content: .statistics(statistics)), to: id, now: now)
                    continue
                }
            }
            if now - follower.lastMessage >= Self.keepAliveInterval {
                send(RoomFeedMessage(id: lastMessageID, content: .keepAlive), to: id, now: now)
            }
        }
    }

    /// Ends all feeds.
    mutating func close() {
        for follower in followers.values { follower.continuation.finish() }
        followers = [:]
    }

    private mutating func send(_ message: RoomFeedMessage, to id: UInt64, now: MonotonicInstant) {
        followers[id]?.lastMessage = now
        guard let follower = followers[id], case .dropped = follower.continuation.yield(message) else { return }
        overruns &+= 1
        follower.overrun.set()
        remove(id)
    }
}
