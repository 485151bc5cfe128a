public import MediaCore
public import SecureTransport

/// What an offer asks for. Directions are the offerer's.
public struct OfferParameters: Hashable, Sendable {
    /// What carries the streams.
    public enum Transport: Hashable, Sendable {
        /// Keys in the descriptions (`a=crypto`), of these profiles, the best first.
        case sdes([SRTPProfile])
        /// A path that ICE finds, and keys from a DTLS handshake with the certificate of this fingerprint. The streams
        /// are bundled and multiplexed whatever else is said.
        case dtls(fingerprint: CertificateFingerprint, credentials: ICECredentials)
    }

    /// An H.264 payload type of an offer.
    public struct VideoFormat: Hashable, Sendable {
        public var payloadType: UInt8
        public var parameters: H264FormatParameters
        /// The payload type of its retransmissions in a stream of their own (RFC 4588); nil where there is to be none.
        public var retransmissionPayloadType: UInt8?

        public init(
            payloadType: UInt8, parameters: H264FormatParameters, retransmissionPayloadType: UInt8? = nil
        ) {
            self.payloadType = payloadType
            self.parameters = parameters
            self.retransmissionPayloadType = retransmissionPayloadType
        }

        /// Packetization mode 1 in High, Main and Constrained Baseline, then Constrained Baseline in mode 0; each with
        /// retransmissions.
        public static let defaults: [VideoFormat] = [
            (96, .high, 1), (97, .main, 1), (98, .constrainedBaseline, 1), (99, .constrainedBaseline, 0),
        ].map { (payloadType: UInt8, profile: H264ProfileLevelID.Profile, mode: UInt8) in
            VideoFormat(
                payloadType: payloadType,
                parameters: H264FormatParameters(
                    profileLevelID: H264ProfileLevelID(profile, level: .level51), packetizationMode: mode),
                retransmissionPayloadType: payloadType + 4)
        }
    }

    public struct Video: Hashable, Sendable {
        public var direction: MediaDirection
        /// The payload types, the best first.
        public var formats: [VideoFormat]
        public var feedback: FeedbackSupport
        /// The payload type of forward error correction in a stream of its own (FlexFEC); nil where there is to be
        /// none.
        public var flexFECPayloadType: UInt8?
        /// The most video that the offerer wants to receive.
        public var maximumBitRate: BitRate?

        public init(
            direction: MediaDirection = .sendAndReceive, formats: [VideoFormat] = VideoFormat.defaults,
            feedback: FeedbackSupport = .video, flexFECPayloadType: UInt8? = 104, maximumBitRate: BitRate? = nil
        ) {
            self.direction = direction
            self.formats = formats
            self.feedback = feedback
            self.flexFECPayloadType = flexFECPayloadType
            self.maximumBitRate = maximumBitRate
        }
    }

    public struct Audio: Hashable, Sendable {
        public var direction: MediaDirection
        public var payloadType: UInt8
        /// The payload type of packets that repeat earlier ones (RED, RFC 2198); nil where there are to be none.
        public var redundancyPayloadType: UInt8?
        public var opus: OpusFormatParameters
        public var feedback: FeedbackSupport

        public init(
            direction: MediaDirection = .sendAndReceive, payloadType: UInt8 = 111,
            redundancyPayloadType: UInt8? = 63, opus: OpusFormatParameters = OpusFormatParameters(),
            feedback: FeedbackSupport = .audio
        ) {
            self.direction = direction
            self.payloadType = payloadType
            self.redundancyPayloadType = redundancyPayloadType
            self.opus = opus
            self.feedback = feedback
        }
    }

    /// Where the offerer receives media, named in `c=` and the `m=` lines; port 9 with an unspecified address when it
    /// sends first and is found by that.
    public var address: TransportAddress
    /// The camera, and the picture that is to be seen; nil for an offer without video.
    public var video: Video?
    /// The screen that is presented; nil for an offer without.
    public var screenShare: Video?
    /// Nil for an offer without audio.
    public var audio: Audio?
    public var transport: Transport
    /// Whether to use the profile with feedback, such as `RTP/SAVPF`, rather than that without, such as `RTP/SAVP`.
    public var usesFeedbackProfile: Bool
    public var rtcpMux: Bool
    public var reducedSizeRTCP: Bool
    public var bundle: Bool
    public var headerExtensions: Set<HeaderExtension>
    /// The canonical name for the offerer's sources; a random one when nil (RFC 7022).
    public var cname: String?

    public init(
        address: TransportAddress, video: Video? = Video(), screenShare: Video? = nil, audio: Audio? = Audio(),
        transport: Transport = .sdes([.aeadAES128GCM, .aesCM128HMACSHA1_80]), usesFeedbackProfile: Bool = true,
        rtcpMux: Bool = true, reducedSizeRTCP: Bool = true, bundle: Bool = true,
        headerExtensions: Set<HeaderExtension> = Set(HeaderExtension.allCases), cname: String? = nil
    ) {
        self.address = address
        self.video = video
        self.screenShare = screenShare
        self.audio = audio
        self.transport = transport
        self.usesFeedbackProfile = usesFeedbackProfile
        self.rtcpMux = rtcpMux
        self.reducedSizeRTCP = reducedSizeRTCP
        self.bundle = bundle
        self.headerExtensions = headerExtensions
        self.cname = cname
    }
}
