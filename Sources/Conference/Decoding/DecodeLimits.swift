public import MediaCore
import VideoCoding

/// How much decoding a relay does, for one member and for all.
///
/// A picture of skipped macroblocks is a few bytes, whatever its size, so that a member's bitrate says nothing of what
/// its video costs.
public struct DecodeLimits: Hashable, Sendable {
    /// Luma samples a second that are decoded of one member, camera and screen share together.
    public var memberSampleRate: Double
    /// Luma samples a second that are decoded of all members.
    public var totalSampleRate: Double
    /// The time that workers spend on one member's video, in seconds a second.
    public var memberTime: Double
    /// Memory for the decoded pictures of one member.
    public var memberMemory: DataSize
    /// Memory for the decoded pictures of all members.
    public var totalMemory: DataSize

    /// Bounds for a machine with so many worker threads: a stream of level 5.1 for each worker, which is about what
    /// half of a core decodes, and for one member at most what answers invite, a stream of level 5.1, or half of all.
    public init(workers: Int) {
        let workers = Double(max(1, workers))
        totalSampleRate = Self.sampleRateOfLevel51 * workers
        memberSampleRate = min(Self.sampleRateOfLevel51, totalSampleRate / 2)
        memberTime = max(0.25, workers / 4)
        memberMemory = DecodingLimits.default.maximumPictureMemory
        totalMemory = DataSize(bytes: max(2 << 30, Int(workers) * (128 << 20)))
    }

    /// `MaxMBPS` of level 5.1 in luma samples (H.264 table A-1).
    private static let sampleRateOfLevel51 = 983_040.0 * 256
}

/// Why a frame is not decoded although it is wanted.
public enum DecodeRefusal: String, CaseIterable, Codable, Sendable {
    /// The picture is larger, or there are more of them a second, than the negotiated level allows.
    case level
    /// The member's share of samples is used up.
    case memberRate = "member-rate"
    /// All members' share of samples is used up, and this one has had more than an equal part of it.
    case totalRate = "total-rate"
    /// The member's share of the workers' time is used up.
    case time
    /// There is no memory left for pictures of this format.
    case memory
    /// The format has changed too often of late: each change makes a new decoder.
    case formatChanges = "format-changes"
    /// The frame has more slices than its size explains.
    case slices
}
