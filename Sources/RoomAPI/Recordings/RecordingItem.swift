public import MediaCore

/// Something to write into a recording, in the order in which it happened.
public struct RecordingItem: Sendable {
    public enum Content: Sendable {
        /// A frame of a source as its sender encoded it, with its time on the recording's clock, and how it is to be
        /// turned.
        case video(SampleBuffer, VideoRotation)
        /// An Opus packet, with its time on the recording's clock and how long it plays.
        case audio(BlockBuffer, time: MediaTime, duration: MediaTime)
        /// The track's stream has ended, for now at least.
        case trackEnded
        /// The sender's clock jumped: what follows is on a time that was counted anew.
        case anchored
    }

    public var recording: String
    public var track: RecordingTrack
    /// The time since the beginning of the recording.
    public var at: Duration
    public var content: Content

    public init(recording: String, track: RecordingTrack, at: Duration, content: Content) {
        self.recording = recording
        self.track = track
        self.at = at
        self.content = content
    }
}
