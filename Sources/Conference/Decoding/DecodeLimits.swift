public import MediaCore
import VideoCoding

/// The limits of decoding, for one member and for all.
///
/// A picture of skipped macroblocks is a few bytes, whatever its size, so a member's bitrate says nothing about the
/// cost of its video.
public struct DecodeLimits: Hashable, Sendable {
    /// Luma samples a second that are decoded of one member, camera and screen share together.
    public var memberSampleRate: Double
    /// The luma samples per second that are decoded for all members.
    public var totalSampleRate: Double
    /// The time that workers spend on one member's video, in seconds a second.
    public var memberTime: Double
    /// The time that workers spend on all members' video while the relay is short of time, in seconds a second.
    public var totalTime: Double
    /// The memory for the decoded pictures of one member.
    public var memberMemory: DataSize
    /// The memory for the decoded pictures of all members.
    public var totalMemory: DataSize

    /// Makes limits for a machine with this many worker threads: a stream of level 5.1 for each worker, which is about
    /// the capacity of half a core, and for one member the limit of answers, a stream of level 5.1, or half of all.
    public init(workers: Int) {
        let workers = Double(max(1, workers))
        totalSampleRate = Self.sampleRateOfLevel51 * workers
        memberSampleRate = min(Self.sampleRateOfLevel51, totalSampleRate / 2)
        memberTime = max(0.25, workers / 4)
        totalTime = workers / 2
        memberMemory = DecodingLimits.default.maximumPictureMemory
        totalMemory = DataSize(bytes: max(2 << 30, Int(workers) * (128 << 20)))
    }

    /// `MaxMBPS` of level 5.1 in luma samples (H.264 table A-1).
    private static let sampleRateOfLevel51 = 983_040.0 * 256
}

/// The reason for which a wanted frame is not decoded.
public enum DecodeRefusal: String, CaseIterable, Codable, Sendable {
    /// The picture is larger, or there are more of them a second, than the negotiated level allows.
    case level
    /// The member's share of samples is used up.
    case memberRate = "member-rate"
    /// All members' share of samples is used up, and this one has had more than an equal part of it.
    case totalRate = "total-rate"
    /// The member's share of the workers' time is used up.
    case time
    /// No memory is left for pictures of this format.
    case memory
    /// The format has changed too often of late: each change makes a new decoder.
    case formatChanges = "format-changes"
    /// The frame has more slices than its size explains.
    case slices
}
