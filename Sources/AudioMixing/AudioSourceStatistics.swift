public import MediaCore

/// The fate of a source's packets since the source was added.
public struct AudioSourceStatistics: Hashable, Sendable {
    /// Packets handed in.
    public var packetsReceived = 0
    /// Packets decoded and played.
    public var packetsDecoded = 0
    /// Packets that had come before.
    public var duplicates = 0
    /// Packets that came after their time had been concealed.
    public var late = 0
    /// Payloads that are not Opus, or that the decoder refused.
    public var malformed = 0
    /// Packets dropped to limit the delay or the memory.
    public var discarded = 0
    /// Packets not decoded because an earlier one had already given more than half of their time.
    public var overlapping = 0
    /// Packets not decoded because more audio than elapsed time had been decoded recently.
    public var overBudget = 0
    /// Playing time that libopus made: from packets, from their in-band FEC, and by concealment.
    public var decoded = Duration.zero
    /// The number of restarts after a jump of timestamps.
    public var restarts = 0
    /// Lost packets whose audio came from the in-band FEC of the packet after.
    public var recoveredByFEC = 0
    /// The playing time that was concealed while the source was sounding.
    public var concealed = Duration.zero
    /// The number of ticks without samples to play.
    public var underruns = 0
    /// The playing time that was removed to shorten the delay.
    public var removed = Duration.zero
    /// The playing time that was inserted to lengthen the delay.
    public var inserted = Duration.zero
    /// The present wait of a sample, counted from its arrival on the fastest recent way.
    public var playoutDelay = Duration.zero
    /// The delay that the recent jitter demands.
    public var targetDelay = Duration.zero

    public init() {}
}

/// The state of a source at a tick.
public struct AudioSourceReport: Hashable, Sendable {
    /// The level of the received frame.
    public var level: AudioLevel
    /// The source's gain in the mix: 0 if it was left out.
    public var mixGain: Float
    /// True if all of the frame was played; otherwise the source waited for packets.
    public var isPlaying: Bool
    /// The RTP timestamp of the frame's first sample; nil where it is no sample of the sender's.
    public var timestamp: UInt32?
    /// The verdict of this tick's decoding on the levels that packets claim.
    public var levelClaim: LevelClaim
    public var statistics: AudioSourceStatistics

    public init(
        level: AudioLevel, mixGain: Float = 1, isPlaying: Bool = true, timestamp: UInt32? = nil,
        levelClaim: LevelClaim = .unchecked, statistics: AudioSourceStatistics
    ) {
        self.level = level
        self.mixGain = mixGain
        self.isPlaying = isPlaying
        self.timestamp = timestamp
        self.levelClaim = levelClaim
        self.statistics = statistics
    }
}
