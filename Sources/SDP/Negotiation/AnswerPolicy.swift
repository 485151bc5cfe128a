public import MediaCore
public import SecureTransport

/// The limits within which the answering side accepts an offer. Directions are the answerer's.
public struct AnswerPolicy: Hashable, Sendable {
    /// The address that the answer gives for media.
    public var publicAddress: TransportAddress
    /// Further addresses of this side. With ICE, all are candidates; without ICE, the answer names the first one of the
    /// offer's address family.
    public var alternativeAddresses: [TransportAddress]
    /// The fingerprint of the certificate that this side uses in DTLS handshakes; nil rejects DTLS-SRTP.
    public var certificateFingerprint: CertificateFingerprint?
    /// The direction in which video may flow; nil rejects video streams.
    public var videoDirection: MediaDirection?
    /// The direction in which audio may flow; nil rejects audio streams.
    public var audioDirection: MediaDirection?
    /// The accepted SRTP profiles, the best first.
    public var srtpProfiles: [SRTPProfile] = [.aeadAES128GCM, .aesCM128HMACSHA1_80]
    /// The accepted H.264 profiles, the best first.
    public var h264Profiles: [H264Profile] = [.high, .main, .constrainedBaseline, .baseline]
    /// The highest level that this side decodes.
    public var maximumReceiveLevel = H264ProfileLevelID.Level.level51
    /// The highest level that this side sends.
    public var maximumSendLevel = H264ProfileLevelID.Level.level51
    /// The Opus parameters that this side wants to receive.
    public var opus = OpusFormatParameters()
    public var videoFeedback = FeedbackSupport.video
    public var audioFeedback = FeedbackSupport.audio
    /// True if forward error correction for video (FlexFEC) is accepted.
    public var acceptsFlexFEC = true
    /// True if packets that repeat earlier audio (RED, RFC 2198) are accepted.
    public var acceptsRedundancy = true
    public var headerExtensions = Set(HeaderExtension.allCases)
    /// The highest rate of video that this side wants to receive (`b=TIAS` in the answer).
    public var maximumVideoBitRate: BitRate?
    /// The canonical name for our sources; nil for a random one (RFC 7022).
    public var cname: String?
    /// The feedback interval that this side requests for its packets. The answer states it if the offer states one.
    public var feedbackInterval: Duration?

    public init(
        publicAddress: TransportAddress, alternativeAddresses: [TransportAddress] = [],
        certificateFingerprint: CertificateFingerprint? = nil,
        videoDirection: MediaDirection? = .sendAndReceive, audioDirection: MediaDirection? = .sendAndReceive
    ) {
        self.publicAddress = publicAddress
        self.alternativeAddresses = alternativeAddresses
        self.certificateFingerprint = certificateFingerprint
        self.videoDirection = videoDirection
        self.audioDirection = audioDirection
    }
}
