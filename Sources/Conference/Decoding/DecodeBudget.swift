import H264
import MediaCore
import VideoCoding

/// Decides which frames are decoded, so that no member's video takes the resources of the others: samples a second, the
/// workers' time and memory, each for one member and for all.
///
/// A frame is paid for in luma samples before it is decoded. When the samples of all are used up, members with less
/// than an equal share continue. Afterwards the member is charged with the actual time. It is sans I/O and belongs to
/// the relay's loop.
final class DecodeBudget {
    /// A frame's claim on the budget.
    struct Request {
        var source: SourceID
        var format: VideoFormatDescription
        /// The negotiated level; nil if none was named.
        var level: H264Level?
        /// The number of pictures and slices in the frame.
        var content: CodedPictureCount
        var size: DataSize

        /// The luma samples of its decoded pictures.
        var samples: Double { Double(format.codedDimensions.area) * content.wholePictures }
    }

    private let limits: DecodeLimits
    private var members: [ParticipantID: Member] = [:]
    private var total: TokenBucket
    private var activeCount = 1
    private var lastCount: MonotonicInstant?
    private(set) var memory = DataSize.zero
    private(set) var refused: [DecodeRefusal: UInt64] = [:]
    private var picturesOnDevice: UInt64 = 0
    private var deviceFaults: UInt64 = 0
    /// True if the relay is short of time. No member's video then takes more than an equal part of the workers' time
    /// for decoding: pictures of skipped macroblocks may take long although their samples are within the bounds.
    var isShortOfTime = false

    /// Members whose last frame is no older take part in the sharing.
    private static let activity = Duration.seconds(1)
    private static let countInterval = Duration.milliseconds(100)

    init(limits: DecodeLimits = DecodeLimits(workers: 8)) {
        self.limits = limits
        total = TokenBucket(rate: limits.totalSampleRate, capacity: limits.totalSampleRate)
    }

    /// Pays for a frame.
    ///
    /// - Returns: The reason for which it is not decoded; nil if it is.
    func admit(_ request: Request, now: MonotonicInstant) -> DecodeRefusal? {
        let id = request.source.participant
        let member = members[id] ?? Member(limits: limits, now: now)
        members[id] = member
        member.lastFrame = now
        let refusal = refusal(of: request, by: member, now: now)
        // A lower rate mends neither a format that changes too often nor a frame of too many slices.
        if refusal != .formatChanges, refusal != .slices {
            member.count(samples: request.samples, isAdmitted: refusal == nil, now: now)
        }
        if let refusal { refused[refusal, default: 0] &+= 1 }
        return refusal
    }

    private func refusal(of request: Request, by member: Member, now: MonotonicInstant) -> DecodeRefusal? {
        let samples = request.samples
        let share = equalShare(now: now)
        guard request.content.slices <= Self.mostSlices(request) else { return .slices }
        if let refusal = member.adopt(request, leftInAll: memoryLeft(for: request), memory: &memory, now: now) {
            return refusal
        }
        guard member.rate.isAvailable(samples, now: now) else { return .memberRate }
        guard member.sources[request.source.content]?.level.isAvailable(samples, now: now) ?? true else {
            return .level
        }
        guard member.time.isAvailable(0, now: now) else { return .time }
        let timeShare = equalTime
        member.timeShare.setRate(timeShare, capacity: timeShare, now: now)
        guard !isShortOfTime || member.timeShare.isAvailable(0, now: now) else { return .time }
        member.share.setRate(share, capacity: share, now: now)
        // When the samples of all are used up, members with less than an equal share continue.
        guard total.isAvailable(samples, now: now) || member.share.isAvailable(samples, now: now) else {
            return .totalRate
        }
        member.sources[request.source.content]?.level.charge(samples)
        member.rate.charge(samples)
        member.share.charge(samples)
        total.charge(samples)
        return nil
    }

    /// The earliest time at which a source may change its format.
    func nextFormatChange(of source: SourceID, now: MonotonicInstant) -> MonotonicInstant {
        members[source.participant]?.formatChanges.nextAvailable(now: now) ?? now
    }

    /// Slices that a frame may have. One may cover all of the picture in a few bytes, and many such take a multiple of
    /// its time; encoders cut pictures by rows of macroblocks, or by the size of packets.
    private static func mostSlices(_ request: Request) -> Int {
        let rows = max(rowsOfMacroblocks, (request.format.codedDimensions.height + 15) / 16)
        return rows * max(1, request.content.pictures) + request.size.bytes / 128
    }

    /// The rows of macroblocks in a picture of 1920x1080. Smaller pictures may have as many slices.
    private static let rowsOfMacroblocks = 68

    private func equalShare(now: MonotonicInstant) -> Double {
        if lastCount.map({ now - $0 >= Self.countInterval }) ?? true {
            lastCount = now
            activeCount = max(1, members.values.count { now - $0.lastFrame < Self.activity })
        }
        return min(limits.totalSampleRate / Double(activeCount), limits.memberSampleRate)
    }

    /// The time for each member that sends video, in seconds a second.
    private var equalTime: Double {
        min(max(limits.totalTime / Double(activeCount), Self.leastTime), limits.memberTime)
    }

    /// The least of it, however many members send video: about the time for a camera in a call.
    private static let leastTime = 0.05

    /// The memory that is left for a request. The last half is for pictures of a usual size, so that a few members with
    /// large ones do not hide everybody else.
    private func memoryLeft(for request: Request) -> DataSize {
        let isLarge = DecodingLimits.pictureMemory(for: request.format) > Self.usualMemory
        return DataSize(bytes: (isLarge ? limits.totalMemory.bytes / 2 : limits.totalMemory.bytes) - memory.bytes)
    }

    /// The memory for a 1280x720 stream with all the reference frames that level 3.1 allows.
    private static let usualMemory = DataSize(bytes: 16 << 20)

    /// Charges a member with the time that a worker took.
    func charge(_ busy: Duration, to id: ParticipantID, now: MonotonicInstant) {
        guard busy > .zero, let member = members[id] else { return }
        member.time.refill(now: now)
        member.time.charge(busy.seconds)
        member.timeShare.refill(now: now)
        member.timeShare.charge(busy.seconds)
    }

    /// The deadline of frames with this many samples: later for a member with more than an equal share, so that its
    /// frames wait for other work and not the reverse (a total bandwidth server: Spuri and Buttazzo, 1996).
    func deadline(of id: ParticipantID, samples: Double, now: MonotonicInstant) -> MonotonicInstant {
        guard let member = members[id] else { return now }
        let delay = min(samples / equalShare(now: now), Self.longestDelay)
        member.due = min(max(member.due, now) + .seconds(delay), now + .seconds(Self.longestDelay))
        return member.due
    }

    private static let longestDelay = 1.0

    /// The part of its samples that a member may send: below 1 while frames are refused.
    func sustainableShare(of id: ParticipantID, now: MonotonicInstant) -> Double {
        members[id]?.sustainableShare(now: now) ?? 1
    }

    /// Gives back what a stream had that has ended: its decoder and its pictures are gone.
    func end(_ source: SourceID) {
        guard let freed = members[source.participant]?.end(source.content) else { return }
        memory = DataSize(bytes: memory.bytes - freed.bytes)
    }

    /// Forgets a member that has left.
    func remove(_ id: ParticipantID) {
        guard let member = members.removeValue(forKey: id) else { return }
        for source in member.sources.values { memory = DataSize(bytes: memory.bytes - source.memory.bytes) }
    }

    /// Counts pictures that a device decoded, and the fault after which it decodes a source no longer.
    func decoded(onDevice count: UInt64, failed: Bool) {
        picturesOnDevice &+= count
        if failed { deviceFaults &+= 1 }
    }

    var snapshot: DecodeBudgetSnapshot {
        DecodeBudgetSnapshot(
            memory: memory.bytes, maximumMemory: limits.totalMemory.bytes,
            maximumSampleRate: limits.totalSampleRate,
            framesRefused: DecodeRefusal.allCases.map { .init(reason: $0, frames: refused[$0] ?? 0) },
            picturesOnDevice: picturesOnDevice, deviceFaults: deviceFaults)
    }
}

/// The share of the decode budget in use, and the frames refused.
public struct DecodeBudgetSnapshot: Encodable, Hashable, Sendable {
    /// Frames that were not decoded, for one reason.
    public struct Refused: Encodable, Hashable, Sendable {
        public var reason: DecodeRefusal
        public var frames: UInt64
    }

    /// Bytes that decoded pictures may take at present.
    public var memory = 0
    /// The most of it.
    public var maximumMemory = 0
    /// The largest number of luma samples per second that are decoded.
    public var maximumSampleRate = 0.0
    public var framesRefused: [Refused] = []
    public var picturesOnDevice: UInt64 = 0
    /// Streams whose device failed.
    public var deviceFaults: UInt64 = 0
}
