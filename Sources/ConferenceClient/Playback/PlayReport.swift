/// The result of playing a file. Field names are part of the interface: fields are added, never renamed.
public struct PlayReport: Codable, Equatable, Sendable {
    /// The reason for the end of playing.
    public enum End: String, Codable, Sendable {
        case endOfFile = "end-of-file"
        case duration
        case interrupted
        case failed
    }

    /// The fate of the file's frames.
    public struct Frames: Codable, Equatable, Sendable {
        public var shown = 0
        /// Pictures that were not shown because the next one was due as well.
        public var late = 0
        /// Frames that were not decoded because they came too late and no other refers to them.
        public var skipped = 0
        /// Frames decoded on the way to the start, and not shown.
        public var prerolled = 0
        public var decoded = 0
        /// The number of frames that were decoded with damage.
        public var concealed = 0
        /// Frames that gave no picture.
        public var dropped = 0
        public var decodeErrors = 0
        public var written = 0
    }

    public var version = 1
    public var path: String
    public var width: Int
    public var height: Int
    /// The frame rate that the file states.
    public var framesPerSecond: Double
    /// The duration of the file, if it is known.
    public var fileSeconds: Double?
    public var rate: Double
    public var startSeconds: Double
    /// The file's time that was played.
    public var durationSeconds: Double
    /// The time that it took.
    public var elapsedSeconds: Double
    public var end: End
    public var frames: Frames
    /// The largest delay of a picture after its time, in the file's time.
    public var largestLatenessSeconds: Double
    public var output: String?
}
