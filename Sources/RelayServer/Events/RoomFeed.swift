import Conference

/// What one follower of a room gets. When nobody holds it any more, nothing is kept for it.
final class RoomFeed: Sendable {
    /// The room as it was when the feed began.
    let state: RoomState
    /// The number of the newest message that `state` contains already.
    let stateID: UInt64
    /// What happens from then on. It ends when the room closes, when the relay ends, and when the follower is too slow.
    let messages: AsyncStream<RoomFeedMessage>
    private let onRelease: @Sendable () -> Void

    init(
        state: RoomState, stateID: UInt64, messages: AsyncStream<RoomFeedMessage>,
        onRelease: @escaping @Sendable () -> Void
    ) {
        self.state = state
        self.stateID = stateID
        self.messages = messages
        self.onRelease = onRelease
    }

    deinit {
        onRelease()
    }
}

/// Why a room cannot be followed.
enum RoomFeedError: Error, Equatable {
    case noSuchRoom
    case noSuchParticipant
    case tooManyFollowers(limit: Int)
    case closed
}
