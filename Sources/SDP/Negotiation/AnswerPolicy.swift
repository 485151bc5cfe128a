public import MediaCore
public import SecureTransport

/// What the answering side is willing to do. Directions are the answerer's.
public struct AnswerPolicy: Hashable, Sendable {
    /// Where the answer says that media is to be sent.
    public var publicAddress: TransportAddress
    /// Further addresses of the same place. Where there is ICE all are candidates; elsewhere the first of the family
    /// that the offer uses is named.
    public var alternativeAddresses: [TransportAddress]
    /// The fingerprint of the certificate with which this side does DTLS handshakes; nil rejects DTLS-SRTP.
    public var certificateFingerprint: CertificateFingerprint?
    /// What may flow in video streams; nil rejects them.
    public var videoDirection: MediaDirection?
    /// What may flow in audio streams; nil rejects them.
    public var audioDirection: MediaDirection?
    /// The SRTP profiles that are accepted, the best first.
    public var srtpProfiles: [SRTPProfile]
    /// The H.264 profiles that are accepted, the best first.
    public var h264Profiles: [H264ProfileLevelID.Profile]
    /// The highest level that is decoded here.
    public var maximumReceiveLevel: H264ProfileLevelID.Level
    /// The highest level that is sent from here.
    public var maximumSendLevel: H264ProfileLevelID.Level
    /// What the answer says of the Opus that is to be sent here.
    public var opus: OpusFormatParameters
    public var videoFeedback: FeedbackSupport
    public var audioFeedback: FeedbackSupport
    /// Whether forward error correction for video (FlexFEC) is accepted.
    public var acceptsFlexFEC = true
    /// Whether packets that repeat earlier audio (RED, RFC 2198) are accepted.
    public var acceptsRedundancy = true
    public var headerExtensions: Set<HeaderExtension>
    /// The most video that is wanted (`b=TIAS` in the answer).
    public var maximumVideoBitRate: BitRate?
    /// The canonical name for our sources; a random one when nil (RFC 7022).
    public var cname: String?

    public init(
        publicAddress: TransportAddress, alternativeAddresses: [TransportAddress] = [],
        certificateFingerprint: CertificateFingerprint? = nil,
        videoDirection: MediaDirection? = .sendAndReceive, audioDirection: MediaDirection? = .sendAndReceive,
        srtpProfiles: [SRTPProfile] = [.aeadAES128GCM, .aesCM128HMACSHA1_80],
        h264Profiles: [H264ProfileLevelID.Profile] = [.high, .main, .constrainedBaseline, .baseline],
        maximumReceiveLevel: H264ProfileLevelID.Level = .level51, maximumSendLevel: H264ProfileLevelID.Level = .level51,
        opus: OpusFormatParameters = OpusFormatParameters(), videoFeedback: FeedbackSupport = .video,
        audioFeedback: FeedbackSupport = .audio,
        headerExtensions: Set<HeaderExtension> = Set(HeaderExtension.allCases),
        maximumVideoBitRate: BitRate? = nil, cname: String? = nil
    ) {
        self.publicAddress = publicAddress
        self.alternativeAddresses = alternativeAddresses
        self.certificateFingerprint = certificateFingerprint
        self.videoDirection = videoDirection
        self.audioDirection = audioDirection
        self.srtpProfiles = srtpProfiles
        self.h264Profiles = h264Profiles
        self.maximumReceiveLevel = maximumReceiveLevel
        self.maximumSendLevel = maximumSendLevel
        self.opus = opus
        self.videoFeedback = videoFeedback
        self.audioFeedback = audioFeedback
        self.headerExtensions = headerExtensions
        self.maximumVideoBitRate = maximumVideoBitRate
        self.cname = cname
    }
}
