public import MediaCore

/// What an offer asks for. Directions are the offerer's.
public struct OfferParameters: Hashable, Sendable {
    /// An H.264 payload type of an offer.
    public struct VideoFormat: Hashable, Sendable {
        public var payloadType: UInt8
        public var parameters: H264FormatParameters

        public init(payloadType: UInt8, parameters: H264FormatParameters) {
            self.payloadType = payloadType
            self.parameters = parameters
        }

        /// Packetization mode 1 in High, Main and Constrained Baseline, then Constrained Baseline in mode 0.
        public static let defaults: [VideoFormat] = [
            (96, .high, 1), (97, .main, 1), (98, .constrainedBaseline, 1), (99, .constrainedBaseline, 0),
        ].map { (payloadType: UInt8, profile: H264ProfileLevelID.Profile, mode: UInt8) in
            VideoFormat(
                payloadType: payloadType,
                parameters: H264FormatParameters(
                    profileLevelID: H264ProfileLevelID(profile, level: .level51), packetizationMode: mode))
        }
    }

    public struct Video: Hashable, Sendable {
        public var direction: MediaDirection
        /// The payload types, the best first.
        public var formats: [VideoFormat]
        public var feedback: FeedbackSupport
        /// The most video that the offerer wants to receive.
        public var maximumBitRate: BitRate?

        public init(
            direction: MediaDirection = .sendAndReceive, formats: [VideoFormat] = VideoFormat.defaults,
            feedback: FeedbackSupport = .video, maximumBitRate: BitRate? = nil
        ) {
            self.direction = direction
            self.formats = formats
            self.feedback = feedback
            self.maximumBitRate = maximumBitRate
        }
    }

    public struct Audio: Hashable, Sendable {
        public var direction: MediaDirection
        public var payloadType: UInt8
        public var opus: OpusFormatParameters
        public var feedback: FeedbackSupport

        public init(
            direction: MediaDirection = .sendAndReceive, payloadType: UInt8 = 111,
            opus: OpusFormatParameters = OpusFormatParameters(), feedback: FeedbackSupport = .audio
        ) {
            self.direction = direction
            self.payloadType = payloadType
            self.opus = opus
            self.feedback = feedback
        }
    }

    /// Where the offerer receives media, named in `c=` and the `m=` lines; port 9 with an unspecified address when it
    /// sends first and is found by that.
    public var address: TransportAddress
    /// Nil for an offer without video.
    public var video: Video?
    /// Nil for an offer without audio.
    public var audio: Audio?
    /// The SRTP profiles to offer, the best first.
    public var srtpProfiles: [SRTPProfile]
    /// Whether to use the profile with feedback, `RTP/SAVPF`, rather than `RTP/SAVP`.
    public var usesFeedbackProfile: Bool
    public var rtcpMux: Bool
    public var reducedSizeRTCP: Bool
    public var bundle: Bool
    public var headerExtensions: Set<HeaderExtension>
    /// The canonical name for the offerer's sources; a random one when nil (RFC 7022).
    public var cname: String?

    public init(
        address: TransportAddress, video: Video? = Video(), audio: Audio? = Audio(),
        srtpProfiles: [SRTPProfile] = [.aeadAES128GCM, .aesCM128HMACSHA1_80], usesFeedbackProfile: Bool = true,
        rtcpMux: Bool = true, reducedSizeRTCP: Bool = true, bundle: Bool = true,
        headerExtensions: Set<HeaderExtension> = Set(HeaderExtension.allCases), cname: String? = nil
    ) {
        self.address = address
        self.video = video
        self.audio = audio
        self.srtpProfiles = srtpProfiles
        self.usesFeedbackProfile = usesFeedbackProfile
        self.rtcpMux = rtcpMux
        self.reducedSizeRTCP = reducedSizeRTCP
        self.bundle = bundle
        self.headerExtensions = headerExtensions
        self.cname = cname
    }
}
