import CongestionControl
import MediaCore
import SDP

/// The division of the controller's target between video and audio, and the detection of relevant changes.
struct MediaRates {
    /// The highest target.
    var maximum: BitRate
    private var allocator: BitrateAllocator
    private(set) var allocated = BitrateAllocation(audio: .zero, video: .zero, isChanged: false)
    /// The last reported rate over several frames.
    private var toldSustained = BitRate.zero
    /// The largest rate that there is to send, as the controller knows it.
    private(set) var demand: BitRate

    /// The lowest rate that a video encoder gets, even if a receiver's own limit is lower.
    static let minimumVideo = BitRate.kilobits(50)
    /// The rates of an audio encoder; a receiver may want less.
    private static let audioRates = BitRate.kilobits(16)...BitRate.kilobits(40)
    /// The most that an audio stream takes, headers included.
    static let audioDemand = BitRate.kilobits(64)
    /// Frames are divided into packets of one size, of which few are as large as can be.
    private static let averageVideoPayloadSize = DataSize(bytes: 1000)
    /// The change of the rate over several frames that is reported although the next frame's rate is the same.
    private static let notableChange = 0.1

    init(maximum: BitRate) {
        self.maximum = maximum
        demand = maximum
        allocator = BitrateAllocator(configuration: BitrateAllocator.Configuration(audio: nil, video: nil))
    }

    /// New rates for the encoders; nil if one has not changed.
    struct Changes {
        var video: VideoBitRate?
        var audio: BitRate?
    }

    /// The streams that share the target.
    struct Conditions {
        var sendsVideo: Bool
        var sendsAudio: Bool
        /// The fraction of our video packets that are lost, and sent again.
        var fractionLost: Double
        /// Bits of forward error correction for each bit of video.
        var protectionOverhead: Double
        /// The number of times that each audio payload is sent again.
        var audioRepetitions: Int
    }

    /// The rate of all video encoders together.
    var video: BitRate { max(allocated.video, Self.minimumVideo) }

    /// Sets the session's streams and the receiver's limit. Returns the maximum to send, if it has changed.
    mutating func setMedia(
        of session: NegotiatedSession, requestedVideo: BitRate?, sendsVideo: Bool
    ) -> BitRate? {
        let video = min(requestedVideo ?? maximum, maximum)
        let most = Self.audioRates.upperBound
        let audioMaximum = min(session.audio?.opus?.maximumAverageBitRate ?? most, most)
        allocator.configuration = BitrateAllocator.Configuration(
            audio: session.audio?.sends == true ? min(Self.audioRates.lowerBound, audioMaximum)...audioMaximum : nil,
            video: session.media.contains { $0.kind == .video && $0.sends }
                ? Self.minimumVideo...max(Self.minimumVideo, video) : nil,
            packetOverhead: PeerConfiguration.packetOverhead, videoPayloadSize: Self.averageVideoPayloadSize)
        // Without video there is little to send: probing for more would be noise on someone's link.
        let wanted = sendsVideo ? min(video + Self.audioDemand, maximum) : Self.audioDemand
        guard wanted != demand else { return nil }
        demand = wanted
        return wanted
    }

    /// Divides a decision's target. Returns the changes for the encoders, and the rate for video.
    mutating func allocate(_ decision: ControlDecision, _ conditions: Conditions) -> (Changes, videoShare: BitRate) {
        let allocation = allocator.allocate(
            target: decision.targetBitRate, fractionLost: conditions.fractionLost,
            protection: conditions.protectionOverhead, audioRepetitions: conditions.audioRepetitions)
        let audio = allocation.audio * Double(1 + conditions.audioRepetitions) + allocator.audioOverhead
        let available = decision.averageBitRate - audio
        let share = max(available, Self.minimumVideo)
        let kept = 1 - BitrateAllocator.retransmissionShare(fractionLost: conditions.fractionLost)
        let carried = max(
            available * (kept * allocator.videoPayloadShare / (1 + conditions.protectionOverhead)), Self.minimumVideo)
        let sustained = min(carried, allocator.configuration.video?.upperBound ?? carried)
        // Over several frames it may be far less than before while the next frame's is at its least already.
        let isOther = abs(sustained / max(toldSustained, Self.minimumVideo) - 1) > Self.notableChange
        guard allocation.isChanged || isOther else { return (Changes(), share) }
        var changes = Changes()
        if conditions.sendsVideo, allocation.video != allocated.video || isOther {
            toldSustained = sustained
            changes.video = VideoBitRate(target: allocation.video, sustained: sustained)
        }
        if conditions.sendsAudio, allocation.audio != allocated.audio { changes.audio = allocation.audio }
        allocated = allocation
        return (changes, share)
    }
}
