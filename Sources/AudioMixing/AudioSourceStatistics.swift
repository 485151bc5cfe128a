public import MediaCore

/// What became of a source's packets, since the source was added.
public struct AudioSourceStatistics: Hashable, Sendable {
    /// Packets handed in.
    public var packetsReceived = 0
    /// Packets decoded and played.
    public var packetsDecoded = 0
    /// Packets that were there already.
    public var duplicates = 0
    /// Packets that came after their time had been concealed.
    public var late = 0
    /// Payloads that are not Opus, or that the decoder refused.
    public var malformed = 0
    /// Packets dropped to bound the delay or the memory.
    public var discarded = 0
    /// Packets not decoded, because an earlier one had already brought more than half of their time.
    public var overlapping = 0
    /// Packets not decoded, because lately more audio had been decoded than time had gone by.
    public var overBudget = 0
    /// Playing time that libopus made: of packets, of their in-band FEC, and by concealment.
    public var decoded = Duration.zero
    /// Times the stream was taken up anew after a jump of its timestamps.
    public var restarts = 0
    /// Lost packets whose audio came from the in-band FEC of the packet after.
    public var recoveredByFEC = 0
    /// Playing time made up by concealment while the source was sounding.
    public var concealed = Duration.zero
    /// Times there was nothing to play when it was time to.
    public var underruns = 0
    /// Playing time taken out to shorten the delay.
    public var removed = Duration.zero
    /// Playing time put in to lengthen the delay.
    public var inserted = Duration.zero
    /// How long a sample waits at present, from when it would have come on the fastest way seen lately.
    public var playoutDelay = Duration.zero
    /// The delay that the jitter seen lately asks for.
    public var targetDelay = Duration.zero

    public init() {}
}

/// A source at a tick.
public struct AudioSourceReport: Hashable, Sendable {
    /// The level of the frame that came.
    public var level: AudioLevel
    /// What it was multiplied by on its way into the mix: 0 where it was left out.
    public var mixGain: Float
    /// Whether all of the frame was played; otherwise packets were awaited.
    public var isPlaying: Bool
    /// What this tick's decoding says of the levels that packets claim.
    public var levelClaim: LevelClaim
    public var statistics: AudioSourceStatistics

    public init(
        level: AudioLevel, mixGain: Float = 1, isPlaying: Bool = true, levelClaim: LevelClaim = .unchecked,
        statistics: AudioSourceStatistics
    ) {
        self.level = level
        self.mixGain = mixGain
        self.isPlaying = isPlaying
        self.levelClaim = levelClaim
        self.statistics = statistics
    }
}
