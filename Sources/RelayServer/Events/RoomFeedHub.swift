import Conference
import MediaCore

/// Distributes the events of rooms to their subscribers.
///
/// Messages wait for a subscriber in a bounded queue. If it overflows, the feed ends as overrun, and the subscriber
/// begins another one on the same connection: the newest state includes the missed messages.
struct RoomFeedHub {
    /// Messages that wait for one subscriber.
    static let queueLength = 256
    /// Subscribers of all rooms together.
    static let maximumSubscribers = 384
    /// The longest time of a connection without a message. Only a failed write tells that a subscriber is gone.
    static let keepAliveInterval = Duration.seconds(5)
    /// The interval of `tick` while there are subscribers.
    static let tickInterval = Duration.seconds(1)

    private struct Subscriber {
        let room: String
        /// The participant whose statistics are wanted.
        let participant: String?
        let continuation: AsyncStream<RoomFeedMessage>.Continuation
        let overrun: RoomFeed.Overrun
        var lastMessage: MonotonicInstant
        var encoding = EncodingMeter()
    }

    private var subscribers: [UInt64: Subscriber] = [:]
    private var nextSubscriber: UInt64 = 0
    private var lastMessageID: UInt64 = 0
    /// The number of times that a subscriber was too slow.
    private(set) var overruns: UInt64 = 0
    /// The states that subscribers were sent, by room, until something happens there.
    private var states: [String: RoomFeedMessage] = [:]
    /// True while clients are to go to other relays. A client that begins to follow is told, too.
    var isMoving = false

    /// The number of subscribers.
    var count: Int { subscribers.count }

    /// Adds a subscriber of a room.
    /// - Parameters:
    ///   - isHidden: Whether the participant is in the room and others are not told of it.
    ///   - state: The room's state; asked for only if something has happened since it was last sent.
    ///   - onRelease: Called with the subscriber's number when the feed is no longer held.
    mutating func follow(
        _ room: String, participant: String?, isHidden: Bool, state: () -> RoomState?, now: MonotonicInstant,
        onRelease: @escaping @Sendable (UInt64) -> Void
    ) throws(RoomFeedError) -> RoomFeed {
        guard subscribers.count < Self.maximumSubscribers else {
            throw .tooManySubscribers(limit: Self.maximumSubscribers)
        }
        guard let opening = states[room] ?? state().map({ RoomFeedMessage(id: lastMessageID, content: .state($0)) }),
            case .state(let current) = opening.content
        else { throw .noSuchRoom }
        states[room] = opening
        if let participant, !isHidden, !current.participants.contains(where: { $0.id == participant }) {
            throw .noSuchParticipant
        }
        let (messages, continuation) = AsyncStream.makeStream(
            of: RoomFeedMessage.self, bufferingPolicy: .bufferingOldest(Self.queueLength))
        let id = nextSubscriber
        nextSubscriber += 1
        let overrun = RoomFeed.Overrun()
        subscribers[id] = Subscriber(
            room: room, participant: participant, continuation: continuation, overrun: overrun, lastMessage: now)
        if isMoving { send(RoomFeedMessage(id: lastMessageID, content: .change(.moved)), to: id, now: now) }
        return RoomFeed(state: opening, messages: messages, overrun: overrun) { onRelease(id) }
    }

    /// Forgets a subscriber.
    mutating func remove(_ id: UInt64) {
        subscribers.removeValue(forKey: id)?.continuation.finish()
    }

    /// Sends an event to a room's subscribers.
    mutating func publish(_ event: RoomEvent, now: MonotonicInstant) {
        lastMessageID &+= 1
        states[event.room] = nil
        let message = RoomFeedMessage(id: lastMessageID, content: .change(event.kind))
        for id in subscribers.filter({ $0.value.room == event.room }).keys {
            send(message, to: id, now: now)
            if event.kind == .closed { remove(id) }
        }
    }

    /// Sends statistics to subscribers that want them, and a keep-alive message to those that received nothing for
    /// long.
    mutating func tick(now: MonotonicInstant, snapshot: (_ room: String) -> RoomSnapshot?) {
        var snapshots: [String: RoomSnapshot] = [:]
        for (id, subscriber) in subscribers {
            if let participant = subscriber.participant {
                let room = snapshots[subscriber.room] ?? snapshot(subscriber.room)
                snapshots[subscriber.room] = room
                if let found = room?.participants.first(where: { $0.id == participant }) {
                    let progress = subscribers[id]?.encoding.read(found.downlink, now: now)
                    lastMessageID &+= 1
                    let statistics = ParticipantStatistics(found, progress: progress)
                    send(RoomFeedMessage(id: lastMessageID, content: .statistics(statistics)), to: id, now: now)
                    continue
                }
            }
            if now - subscriber.lastMessage >= Self.keepAliveInterval {
                send(RoomFeedMessage(id: lastMessageID, content: .keepAlive), to: id, now: now)
            }
        }
    }

    /// Ends all feeds.
    mutating func close() {
        for subscriber in subscribers.values { subscriber.continuation.finish() }
        subscribers = [:]
    }

    private mutating func send(_ message: RoomFeedMessage, to id: UInt64, now: MonotonicInstant) {
        subscribers[id]?.lastMessage = now
        guard let subscriber = subscribers[id], case .dropped = subscriber.continuation.yield(message) else { return }
        overruns &+= 1
        subscriber.overrun.set()
        remove(id)
    }
}
