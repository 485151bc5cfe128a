public import MediaCore

/// Where and how a relay records.
public struct RecordingSettings: Sendable {
    /// The folder that gets a folder for each recording. It need not be there.
    public var folder: String
    /// True if every room is recorded from its first participant on.
    public var recordsAll = false
    /// Recordings end when the disk has less free space than this.
    public var minimumFreeSpace = DataSize(bytes: 500_000_000)
    /// The time for which ended recordings are kept; nil: until somebody deletes them.
    public var keep: Duration?

    public init(folder: String) {
        self.folder = folder
    }

    /// The most that waits for the disk, of one recording and of all.
    static let queueLimit = DataSize(bytes: 64 << 20)
    static let totalQueueLimit = DataSize(bytes: 256 << 20)
    /// The most that waits, beyond that, of what tells of a recording itself: an hour of a lively room.
    static let eventLimit = DataSize(bytes: 16 << 20)
    /// The length of a fragment. With the time that a frame takes to the disk, a crash loses less than a second.
    static let fragment = Duration.milliseconds(800)
    /// The time after which the files are made durable again.
    static let synchronizeInterval = Duration.seconds(5)
}
