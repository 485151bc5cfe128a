/// The content of `--stats`: one client's session from join to leave. Fields are added, never renamed or given another
/// unit. Values that are not known are left out. Bitrates of audio and video exclude headers.
public struct ClientReport: Codable, Sendable {
    /// The duration of joining, each time from the `POST` of the offer.
    public struct Join: Codable, Sendable {
        /// The transport: `dtls` or `sdes`.
        public var transport: String
        /// The time until the answer.
        public var secondsToAnswer: Double
        /// The time until media could flow: with DTLS, until its keys were there.
        public var secondsToConnect: Double?
        /// The time until the first decoded picture.
        public var secondsToFirstPicture: Double?
    }

    public struct ReceivedVideo: Codable, Sendable {
        public var frames: Int
        public var keyframes: Int
        public var framesDecoded: Int
        public var decodeErrors: Int
        /// Frames that came while the decoder was far behind.
        public var framesNotDecoded: Int
        /// The mean rate from the first frame to the end.
        public var framesPerSecond: Double
        /// The size of the last frame.
        public var width: Int?
        public var height: Int?
        public var bytes: Int
        public var bitsPerSecond: Double
        public var secondsToFirstFrame: Double?
        /// Gaps between frames of at least max(3 δ, δ + 150 ms), δ being the mean of 30 gaps.
        public var freezeCount: Int
        public var freezeSeconds: Double
        public var longestGapSeconds: Double
        public var packets: Int
        /// As RFC 3550 counts them: a retransmission replaces a lost packet, forward error correction does not.
        public var packetsLost: Int
        public var lossFraction: Double
        public var nacksSent: Int
        /// Packets of forward error correction.
        public var fecPackets = 0
        /// Lost packets that forward error correction recovered.
        public var packetsRecovered = 0
        public var keyframeRequestsSent: Int
        /// Losses after which it went on with a picture that was no keyframe.
        public var recoveriesWithoutKeyframe = 0
        /// Freezes in which no frame is missing or late: the relay sent none, as of a picture in which nothing moves.
        public var pauseCount = 0
        public var pauseSeconds = 0.0
    }

    public struct ReceivedAudio: Codable, Sendable {
        public var packets: Int
        public var bytes: Int
        public var bitsPerSecond: Double
        /// Payloads taken from later packets that repeat them (RED).
        public var redBlocksUsed = 0
    }

    public struct SentVideo: Codable, Sendable {
        public var frames: Int
        public var keyframes: Int
        /// Frames left out: the network had no room, or the encoder's rate control skipped them.
        public var framesSkipped: Int
        public var bytes: Int
        public var bitsPerSecond: Double
        /// The last target of the encoder.
        public var targetBitsPerSecond: Double
        /// The loss fraction in the relay's last report.
        public var lossFraction: Double
        public var keyframeRequestsReceived: Int
        /// The size of the last frame.
        public var width: Int?
        public var height: Int?
        /// The number of changes of the size.
        public var sizeChanges: Int?
        /// True if the client sends no more than is visible.
        public var followsDemand: Bool?
        /// The width of the largest tile in which anybody saw the picture, in the relay's last report; zero by zero for
        /// nobody.
        public var tileWidth: Int?
        public var tileHeight: Int?
        /// The most that the relay last asked for (TMMBR).
        public var requestedBitsPerSecond: Double?
    }

    public struct SentAudio: Codable, Sendable {
        public var packets: Int
        public var bytes: Int
        public var bitsPerSecond: Double
        public var lossFraction: Double
    }

    /// The connection below both.
    public struct Transport: Codable, Sendable {
        public var packetsSent: Int
        public var packetsReceived: Int
        public var retransmissionsSent: Int
        /// Packets of forward error correction.
        public var fecPacketsSent = 0
        /// Audio packets that repeat earlier ones (RED).
        public var redPacketsSent = 0
        public var nacksReceived: Int
        public var packetsNotAuthenticated: Int
        public var packetsReplayed: Int
        public var packetsMalformed: Int
        /// At the end.
        public var roundTripSeconds: Double?
        /// At the end: the target of congestion control for everything that is sent.
        public var targetBitsPerSecond: Double
    }

    /// End-to-end delay, read from the frame counters of other clients of this machine.
    public struct Delay: Codable, Sendable {
        public var samples: Int
        public var meanSeconds: Double?
        public var medianSeconds: Double?
        public var p95Seconds: Double?
        public var maximumSeconds: Double?
        public var participants: [ParticipantDelay]
        /// The relay's part of it, by the relay's own account; nil if it is not known.
        public var relay: RelayDelay?
    }

    /// The part of the delay that the relay accounts for (`docs/latency.md`).
    public struct RelayDelay: Codable, Sendable {
        public var meanSeconds: Double
        public var p95Seconds: Double
        /// Means of the stages, in order.
        public var stages: [Stage]
        /// The rest of the measured mean: the sender's camera and encoder, both networks, and receiving here.
        public var elsewhereSeconds: Double
        /// True if the stages add up to the relay's total, and the total is at most the measured delay.
        public var addsUp: Bool
    }

    public struct Stage: Codable, Sendable {
        public var stage: String
        public var meanSeconds: Double
    }

    /// The delay of one participant's pictures.
    public struct ParticipantDelay: Codable, Sendable {
        /// The counter's tag of 10 bits, which belongs to the participant's name.
        public var tag: Int
        public var samples: Int
        public var meanSeconds: Double?
    }

    /// An emulated access link.
    public struct Link: Codable, Sendable {
        public var packetsSent: Int
        public var packetsDelivered: Int
        /// Packets that the link lost at random.
        public var packetsLost: Int
        /// Packets that were dropped because the queue was full.
        public var packetsDropped: Int
        public var bytesDelivered: Int
    }

    /// One second of the session.
    public struct Sample: Codable, Sendable {
        /// The seconds since the join.
        public var seconds: Double
        public var receivedFrames: Int
        public var receivedVideoBitsPerSecond: Double
        public var receivedAudioBitsPerSecond: Double
        public var width: Int?
        public var height: Int?
        /// The frozen time so far, in seconds.
        public var freezeSeconds: Double
        /// The longest gap between two pictures that ended in this second, or lasts, in seconds.
        public var longestGapSeconds: Double
        public var delaySeconds: Double?
        public var roundTripSeconds: Double?
        /// Packets of received video lost so far.
        public var packetsLost: Int
        public var sentFrames: Int
        public var sentVideoBitsPerSecond: Double
        public var sentAudioBitsPerSecond: Double
        /// The target of the video encoder.
        public var videoTargetBitsPerSecond: Double

        /// The most samples of a report: over a day's.
        static let maximumCount = 100_000
    }

    /// The version of this form.
    public var version = 1
    public var name: String
    public var url: String
    /// The participant's path at the relay.
    public var participant: String
    /// The time of joining, by ISO 8601 in UTC.
    public var joinedAt: String
    public var durationSeconds: Double
    /// The reason for the end of the session: `duration`, `interrupted`, `relay-left`, `moved` or `failed`.
    public var end: String
    public var join: Join
    public var receivedVideo: ReceivedVideo
    public var receivedAudio: ReceivedAudio
    public var sentVideo: SentVideo
    public var sentAudio: SentAudio
    public var transport: Transport
    public var delay: Delay
    /// The emulated link; nil without one.
    public var uplink: Link?
    public var downlink: Link?
    /// One for each second. Of a session of more than a day the oldest are left out.
    public var samples: [Sample]
}

extension [ClientReport.Sample] {
    /// Adds a sample. Where there are too many, the oldest tenth goes.
    mutating func keep(_ sample: ClientReport.Sample) {
        if count >= ClientReport.Sample.maximumCount { removeFirst(count / 10) }
        append(sample)
    }
}
