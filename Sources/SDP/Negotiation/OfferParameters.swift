public import MediaCore
public import SecureTransport

/// The streams and the transport of an offer. Directions are the offerer's.
public struct OfferParameters: Hashable, Sendable {
    /// The transport of the streams.
    public enum Transport: Hashable, Sendable {
        /// SRTP keys in the descriptions (`a=crypto`) for these profiles, the best first.
        case sdes([SRTPProfile])
        /// A path that ICE finds, and keys from a DTLS handshake with the certificate of this fingerprint. The streams
        /// are always bundled, and RTP and RTCP multiplexed, whatever the other parameters say.
        case dtls(fingerprint: CertificateFingerprint, credentials: ICECredentials)
    }

    /// An H.264 payload type of an offer.
    public struct VideoFormat: Hashable, Sendable {
        public var payloadType: UInt8
        public var parameters: H264FormatParameters
        /// The payload type of its retransmissions in a stream of their own (RFC 4588); nil for no retransmissions.
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
        ].map { (payloadType: UInt8, profile: H264Profile, mode: UInt8) in
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
        public var feedback = FeedbackSupport.video
        /// The payload type of forward error correction in a stream of its own (FlexFEC); nil for none.
        public var flexFECPayloadType: UInt8? = 104
        /// The highest rate of video that the offerer wants to receive.
        public var maximumBitRate: BitRate?

        public init(
            direction: MediaDirection = .sendAndReceive, formats: [VideoFormat] = VideoFormat.defaults,
            maximumBitRate: BitRate? = nil
        ) {
            self.direction = direction
            self.formats = formats
            self.maximumBitRate = maximumBitRate
        }
    }

    public struct Audio: Hashable, Sendable {
        public var direction: MediaDirection
        public var payloadType: UInt8
        /// The payload type of packets that repeat earlier ones (RED, RFC 2198); nil for none.
        public var redundancyPayloadType: UInt8? = 63
        public var opus: OpusFormatParameters
        public var feedback = FeedbackSupport.audio

        public init(
            direction: MediaDirection = .sendAndReceive, payloadType: UInt8 = 111,
            opus: OpusFormatParameters = OpusFormatParameters()
        ) {
            self.direction = direction
            self.payloadType = payloadType
            self.opus = opus
        }
    }

    /// The address at which the offerer receives media, for `c=` and the `m=` lines. An unspecified address with port 9
    /// if the offerer sends first: the other side then learns its address from the packets.
    public var address: TransportAddress
    /// The camera and, in the other direction, the composed picture; nil for an offer without video.
    public var video: Video?
    /// The screen share; nil for an offer without one.
    public var screenShare: Video?
    /// The audio stream; nil for an offer without audio.
    public var audio: Audio?
    public var transport: Transport
    /// True to use a profile with feedback, such as `RTP/SAVPF`, rather than one without, such as `RTP/SAVP`.
    public var usesFeedbackProfile: Bool
    public var rtcpMux: Bool
    public var reducedSizeRTCP = true
    public var bundle: Bool
    public var headerExtensions = Set(HeaderExtension.allCases)
    /// The canonical name for the offerer's sources; nil for a random one (RFC 7022).
    public var cname: String?
    /// The feedback interval that the offerer requests for its packets; nil to leave it to the other side.
    public var feedbackInterval: Duration?

    public init(
        address: TransportAddress, video: Video? = Video(), audio: Audio? = Audio(),
        transport: Transport = .sdes([.aeadAES128GCM, .aesCM128HMACSHA1_80]), usesFeedbackProfile: Bool = true,
        rtcpMux: Bool = true, bundle: Bool = true
    ) {
        self.address = address
        self.video = video
        self.audio = audio
        self.transport = transport
        self.usesFeedbackProfile = usesFeedbackProfile
        self.rtcpMux = rtcpMux
        self.bundle = bundle
    }
}
