import Conference
import Synchronization

/// The messages for one subscriber of a room. When the feed is released, no further messages are kept.
final class RoomFeed: Sendable {
    /// The room as it was when the feed began.
    let state: RoomFeedMessage
    /// The messages from now on. The stream ends when the room closes, when the relay ends, and when the feed is
    /// overrun.
    let messages: AsyncStream<RoomFeedMessage>
    private let overrun: Overrun
    private let onRelease: @Sendable () -> Void

    /// Records that more messages waited than are kept. Those are of no use then: begin another feed, whose state is
    /// newer.
    final class Overrun: Sendable {
        private let flag = Atomic(false)

        var isSet: Bool { flag.load(ordering: .relaxed) }

        func set() { flag.store(true, ordering: .relaxed) }
    }

    init(
        state: RoomFeedMessage, messages: AsyncStream<RoomFeedMessage>, overrun: Overrun,
        onRelease: @escaping @Sendable () -> Void
    ) {
        self.state = state
        self.messages = messages
        self.overrun = overrun
        self.onRelease = onRelease
    }

    /// True if the subscriber was too slow for the messages.
    var isOverrun: Bool { overrun.isSet }

    deinit {
        onRelease()
    }
}

/// The reason for which a room cannot be followed.
enum RoomFeedError: Error, Equatable {
    case noSuchRoom
    case noSuchParticipant
    case tooManySubscribers(limit: Int)
    case closed
}
