/// The reason why a recording has ended.
public enum RecordingEndReason: String, Codable, Hashable, Sendable {
    /// Somebody ended it.
    case stopped
    /// The last participant has left.
    case roomClosed
    /// The disk is full, or has less free space than the operator wants to keep.
    case diskFull
    /// The files could not be written.
    case failed
    /// The relay was shut down.
    case shutDown
}

/// The state of a room's recording, as its participants are told.
public struct RecordingStatus: Codable, Hashable, Sendable {
    public enum State: String, Codable, Hashable, Sendable {
        case recording, ended
    }

    /// The recording's id, which is also the name of its folder.
    public var id: String
    public var state: State
    /// The reason of its end; nil while it goes on.
    public var reason: RecordingEndReason?

    public init(id: String, state: State, reason: RecordingEndReason? = nil) {
        self.id = id
        self.state = state
        self.reason = reason
    }
}
