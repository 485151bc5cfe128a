/// The file `recording.json` in a recording's folder; docs/recording.md describes the folder.
///
/// It is written when the recording begins and again when it ends. A manifest without `ended` belongs to a recording
/// that goes on, or whose relay crashed: `timeline.jsonl` then tells which files there are.
public struct RecordingManifest: Codable, Hashable, Sendable {
    /// The version of folder and files that this code writes and reads.
    public static let currentVersion = 1
    public static let fileName = "recording.json"
    public static let timelineName = "timeline.jsonl"
    public static let trackFolder = "tracks"

    public enum Mode: String, Codable, Hashable, Sendable, CaseIterable {
        /// The packets of each source in files of their own.
        case tracks
        /// One picture of the whole room and the mix, in one file.
        case composite
    }

    public var version = Self.currentVersion
    public var id: String
    public var room: String
    public var mode = Mode.tracks
    /// When the recording began, by the relay's wall clock, as ISO 8601 in UTC. All other times count from it.
    public var began: String
    /// The time of its end; nil before.
    public var ended: String?
    /// The length, in seconds.
    public var duration: Double?
    public var reason: RecordingEndReason?
    /// The files of all tracks that hold anything.
    public var files: [RecordedFile] = []

    public init(id: String, room: String, mode: Mode = .tracks, began: String) {
        self.id = id
        self.room = room
        self.mode = mode
        self.began = began
    }
}

/// One file of a track.
public struct RecordedFile: Codable, Hashable, Sendable {
    /// The path in the recording's folder.
    public var path: String
    public var track: RecordingTrack
    /// When the file's time zero is, in seconds since the recording began.
    public var start: Double
    /// The length when it is played, in seconds.
    public var duration: Double?
    /// The number of frames or Opus packets in it.
    public var samples: Int?
    /// The size of the pictures as they are coded, before they are turned.
    public var width: Int?
    public var height: Int?

    public init(path: String, track: RecordingTrack, start: Double, width: Int? = nil, height: Int? = nil) {
        self.path = path
        self.track = track
        self.start = start
        self.width = width
        self.height = height
    }
}
