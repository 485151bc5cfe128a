public import MediaCore

/// The division of a target. The rates of audio and video are those of their encoders: payload without headers.
public struct BitrateAllocation: Hashable, Sendable {
    public var audio: BitRate
    public var video: BitRate
    /// True if audio or video differ from the last allocation.
    public var isChanged: Bool

    public init(audio: BitRate, video: BitRate, isChanged: Bool) {
        self.audio = audio
        self.video = video
        self.isChanged = isChanged
    }
}

/// Divides a target between audio, video and retransmissions.
///
/// Audio gets its minimum in every case, and more as the target grows, of which it gets all where there is no video.
/// Retransmissions get what the loss rate demands, and forward error correction its share of the rest, in proportion to
/// the video. Video gets the rest; its rate moves only when it changed by more than 3 %, so that the encoder is not
/// reconfigured for nothing.
public struct BitrateAllocator: Sendable {
    public struct Configuration: Hashable, Sendable {
        /// The audio encoder's range; nil without audio.
        public var audio: ClosedRange<BitRate>?
        /// The video encoder's range; nil without video. The lower bound holds even if the target is below it.
        public var video: ClosedRange<BitRate>?
        /// Bytes that each packet counts beside its payload: RTP header and extensions, authentication tag, and
        /// whatever else the sender counts in `SentPacket.size`.
        public var packetOverhead: DataSize
        /// The payload of a full video packet.
        public var videoPayloadSize: DataSize

        public init(
            audio: ClosedRange<BitRate>?, video: ClosedRange<BitRate>?,
            packetOverhead: DataSize = DataSize(bytes: 38), videoPayloadSize: DataSize = DataSize(bytes: 1100)
        ) {
            self.audio = audio
            self.video = video
            self.packetOverhead = packetOverhead
            self.videoPayloadSize = videoPayloadSize
        }
    }

    private static let audioPacketDuration = Duration.milliseconds(20)
    /// The share of the target up to which audio grows above its minimum beside video.
    static let audioShare = 0.1
    /// The largest share of retransmissions.
    static let maximumRetransmissionShare = 0.3
    /// Below this loss nothing is kept free: the pacer takes single retransmissions in its stride.
    static let negligibleLoss = 0.005
    /// The change from which the rate of video moves.
    static let threshold = 0.03

    public var configuration: Configuration
    private var last: BitrateAllocation?

    public init(configuration: Configuration) {
        self.configuration = configuration
    }

    /// Divides a target.
    ///
    /// - Parameters:
    ///   - fractionLost: The fraction of packets that get lost.
    ///   - protection: The bits of forward error correction for each bit of video.
    ///   - audioRepetitions: The number of later packets that repeat an audio payload.
    public mutating func allocate(
        target: BitRate, fractionLost: Double = 0, protection: Double = 0, audioRepetitions: Int = 0
    ) -> BitrateAllocation {
        var rest = target
        var audioRate = BitRate.zero
        if let range = configuration.audio {
            let copies = Double(1 + max(audioRepetitions, 0))
            let share =
                configuration.video == nil ? (target - audioOverhead) * (1 / copies) : target * Self.audioShare
            audioRate = share.clamped(to: range)
            rest = rest - audioRate * copies - audioOverhead
        }
        rest = rest - rest * Self.retransmissionShare(fractionLost: fractionLost)
        rest = rest * (1 / (1 + max(protection, 0)))

        var videoRate = BitRate.zero
        if let range = configuration.video {
            videoRate = (rest * videoPayloadShare).clamped(to: range)
            if let previous = last?.video, previous > .zero, range.contains(previous) {
                let change = (videoRate / previous - 1).magnitude
                // At the ends of the range small steps count: the last of them reaches the end.
                let isAtEnd = videoRate == range.lowerBound || videoRate == range.upperBound
                if change <= Self.threshold, !isAtEnd { videoRate = previous }
            }
        }
        let isChanged = last?.video != videoRate || last?.audio != audioRate
        let allocation = BitrateAllocation(audio: audioRate, video: videoRate, isChanged: isChanged)
        last = allocation
        return allocation
    }

    /// The share of the rate beside audio that is kept free for retransmissions where this fraction of packets gets
    /// lost.
    public static func retransmissionShare(fractionLost: Double) -> Double {
        fractionLost > negligibleLoss ? min(fractionLost, maximumRetransmissionShare) : 0
    }

    /// The rate of the headers of audio packets; zero without audio.
    public var audioOverhead: BitRate {
        guard configuration.audio != nil else { return .zero }
        return BitRate(configuration.packetOverhead, over: Self.audioPacketDuration)
    }

    /// The share of payload in the video's rate.
    public var videoPayloadShare: Double {
        let payload = max(Double(configuration.videoPayloadSize.bytes), 1)
        return payload / (payload + Double(max(configuration.packetOverhead.bytes, 0)))
    }
}
