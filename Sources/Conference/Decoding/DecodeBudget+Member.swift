import MediaCore
import VideoCoding

extension DecodeBudget {
    /// One member's use of the budget.
    final class Member {
        /// One stream of the member.
        struct Source {
            /// The stream's format; nil if the stream has ended: another one makes a new decoder, as
            /// a change of format does.
            var format: VideoFormatDescription?
            var memory: DataSize
            var level: TokenBucket
        }

        var sources: [SourceContent: Source] = [:]
        // A burst may use a second's worth of each.
        var rate: TokenBucket
        /// The member's equal part of the samples for all.
        var share: TokenBucket
        var time: TokenBucket
        /// The member's equal part of the time for all.
        var timeShare: TokenBucket
        var lastFrame = MonotonicInstant.zero
        /// The deadline of the frames that were handed out.
        var due = MonotonicInstant.zero
        private(set) var formatChanges: TokenBucket
        private let memoryLimit: DataSize
        private var window = Window()
        private var lastWindow: Window?

        /// The samples that were offered and admitted in a span of time.
        private struct Window {
            var start: MonotonicInstant?
            var offered = 0.0
            var admitted = 0.0
        }

        /// A sender is asked for less for as long as frames were refused, and a few seconds more.
        private static let windowLength = Duration.seconds(2)
        /// The smallest request to a sender, as a part of its rate.
        private static let leastShare = 0.1
        private static let shareSteps = 8.0

        init(limits: DecodeLimits, now: MonotonicInstant) {
            // Congestion control goes through several sizes at the start of a call.
            formatChanges = TokenBucket(rate: 0.5, capacity: 8, now: now)
            rate = TokenBucket(rate: limits.memberSampleRate, capacity: limits.memberSampleRate)
            share = TokenBucket(rate: limits.memberSampleRate, capacity: limits.memberSampleRate)
            time = TokenBucket(rate: limits.memberTime, capacity: limits.memberTime)
            timeShare = TokenBucket(rate: limits.memberTime, capacity: limits.memberTime)
            memoryLimit = limits.memberMemory
        }

        // MARK: Formats

        /// Takes the format of a frame.
        ///
        /// - Parameters:
        ///   - leftInAll: The memory that no member uses.
        ///   - memory: The memory of all members.
        /// - Returns: The reason for which its frames are not decoded; nil if they are.
        func adopt(
            _ request: Request, leftInAll: DataSize, memory: inout DataSize, now: MonotonicInstant
        ) -> DecodeRefusal? {
            let content = request.source.content
            let before = sources[content]
            // Encoders may renumber their parameter sets with each keyframe: that changes nothing for a decoder.
            if let before, before.format?.properties == request.format.properties { return nil }
            let bound = request.level ?? .highest
            guard bound.allows(request.format.codedDimensions) else { return .level }
            guard before == nil || formatChanges.isAvailable(now: now) else { return .formatChanges }
            let needed = DecodingLimits.pictureMemory(for: request.format)
            let own = before?.memory ?? .zero
            let others = sources.reduce(0) { $0 + ($1.key == content ? 0 : $1.value.memory.bytes) }
            guard needed.bytes - own.bytes <= leftInAll.bytes, needed.bytes <= memoryLimit.bytes - others else {
                return .memory
            }
            if before != nil { formatChanges.charge() }
            memory = DataSize(bytes: memory.bytes - own.bytes + needed.bytes)
            let sampleRate = Double(bound.maximumMacroblockRate) * 256
            var level = before?.level ?? TokenBucket(rate: sampleRate, capacity: sampleRate)
            level.setRate(sampleRate, capacity: sampleRate, now: now)
            sources[content] = Source(format: request.format, memory: needed, level: level)
            return nil
        }

        /// A stream has ended. Returns the memory that it had; nil if there was none.
        func end(_ content: SourceContent) -> DataSize? {
            guard let source = sources[content], source.format != nil else { return nil }
            sources[content]?.format = nil
            sources[content]?.memory = .zero
            return source.memory
        }

        // MARK: Asking for less

        func count(samples: Double, isAdmitted: Bool, now: MonotonicInstant) {
            if let start = window.start, now - start >= Self.windowLength {
                lastWindow = window
                window = Window()
            }
            if window.start == nil { window.start = now }
            window.offered += samples
            if isAdmitted { window.admitted += samples }
        }

        /// Returns the part of its samples that the member may send, from the fate of its samples in the last seconds.
        func sustainableShare(now: MonotonicInstant) -> Double {
            guard let start = window.start, now - start < Self.windowLength * 2 else { return 1 }
            let offered = window.offered + (lastWindow?.offered ?? 0)
            let admitted = window.admitted + (lastWindow?.admitted ?? 0)
            guard offered > 0 else { return 1 }
            // In steps, so that not every frame makes another request.
            return max((admitted / offered * Self.shareSteps).rounded(.down) / Self.shareSteps, Self.leastShare)
        }
    }
}

extension H264Level {
    /// The level that bounds a stream without a negotiated level: the highest that the relay's answers name.
    fileprivate static let highest = H264Level(levelIDC: 51) ?? all[all.count - 1]
    /// The smallest limit, 1920x1080 at 30 frames a second. Descriptions below it often state a default of the sender's
    /// software, and not what it sends.
    fileprivate static let lowest = H264Level(levelIDC: 40) ?? all[0]

    /// The level that bounds a stream for which one was negotiated.
    init(negotiated levelIDC: UInt8) {
        let level = H264Level(levelIDC: levelIDC) ?? .highest
        self = level.maximumMacroblockRate < Self.lowest.maximumMacroblockRate ? .lowest : level
    }

    fileprivate func allows(_ dimensions: VideoDimensions) -> Bool { reasonToRefuse(dimensions, frameRate: 1) == nil }
}
