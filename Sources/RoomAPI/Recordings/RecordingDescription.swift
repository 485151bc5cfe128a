/// A recording as the relay lists it.
public struct RecordingDescription: Codable, Hashable, Sendable {
    public enum State: String, Codable, Hashable, Sendable {
        /// It goes on.
        case recording
        /// It has ended, and all its files are complete.
        case complete
        /// The relay that made it was killed: up to a second at the end is missing.
        case interrupted
    }

    public var id: String
    public var room: String
    public var state: State
    public var mode: RecordingManifest.Mode
    /// The time of its beginning, as ISO 8601 in UTC.
    public var began: String
    public var ended: String?
    /// In seconds; nil before it has ended.
    public var duration: Double?
    public var reason: RecordingEndReason?

    public init(_ manifest: RecordingManifest, state: State) {
        id = manifest.id
        room = manifest.room
        self.state = state
        mode = manifest.mode
        began = manifest.began
        ended = manifest.ended
        duration = manifest.duration
        reason = manifest.reason
    }
}

/// Recordings, the newest first.
public struct RecordingList: Codable, Hashable, Sendable {
    public var recordings: [RecordingDescription]

    public init(_ recordings: [RecordingDescription]) {
        self.recordings = recordings
    }
}
