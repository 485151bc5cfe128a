import Conference
import MediaCore

/// Brings what happens in rooms to those who follow them.
///
/// A message waits for its follower in a bounded queue. Who lets it overflow is dropped: they connect again and are told
/// the state anew, which is more than the messages that they missed would say.
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
        var lastMessage: MonotonicInstant
        var encoding = EncodingMeter()
    }

    private var followers: [UInt64: Follower] = [:]
    private var nextFollower: UInt64 = 0
    private var lastMessageID: UInt64 = 0
    /// Those who were too slow.
    private(set) var droppedFollowers: UInt64 = 0

    /// How many follow.
    var count: Int { followers.count }

    /// Adds a follower of a room.
    /// - Parameter onRelease: Is told the follower's number when the feed is no longer held.
    mutating func follow(
        _ state: RoomState, participant: String?, now: MonotonicInstant,
        onRelease: @escaping @Sendable (UInt64) -> Void
    ) throws(RoomFeedError) -> RoomFeed {
        guard followers.count < Self.maximumFollowers else {
            throw .tooManyFollowers(limit: Self.maximumFollowers)
        }
        if let participant, !state.participants.contains(where: { $0.id == participant }) { throw .noSuchParticipant }
        let (messages, continuation) = AsyncStream.makeStream(
            of: RoomFeedMessage.self, bufferingPolicy: .bufferingOldest(Self.queueLength))
        let id = nextFollower
        nextFollower += 1
        followers[id] = Follower(
            room: state.id, participant: participant, continuation: continuation, lastMessage: now)
        return RoomFeed(state: state, stateID: lastMessageID, messages: messages) { onRelease(id) }
    }

    /// Forgets a follower.
    mutating func remove(_ id: UInt64) {
        followers.removeValue(forKey: id)?.continuation.finish()
    }

    /// Tells a room's followers what happened.
    mutating func publish(_ event: RoomEvent, now: MonotonicInstant) {
        lastMessageID &+= 1
        for id in followers.filter({ $0.value.room == event.room }).keys {
            send(.change(event.kind), to: id, now: now)
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
                    send(.statistics(ParticipantStatistics(found, progress: progress)), to: id, now: now)
                    continue
                }
            }
            if now - follower.lastMessage >= Self.keepAliveInterval { send(.keepAlive, to: id, now: now) }
        }
    }

    /// Ends all feeds.
    mutating func close() {
        for follower in followers.values { follower.continuation.finish() }
        followers = [:]
    }

    private mutating func send(_ content: RoomFeedMessage.Content, to id: UInt64, now: MonotonicInstant) {
        followers[id]?.lastMessage = now
        let result = followers[id]?.continuation.yield(RoomFeedMessage(id: lastMessageID, content: content))
        guard case .dropped = result else { return }
        droppedFollowers &+= 1
        remove(id)
    }
}
