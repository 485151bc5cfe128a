public import MediaCore
public import SecureTransport

/// What offer and answer agreed on for one accepted stream. "Local" is the side that this value was made for: the
/// answerer where `OfferAnswer.answer` made it, the offerer where `OfferAnswer.complete` did.
public struct NegotiatedMedia: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case audio
        case video
    }

    /// What a video stream shows (`a=content`, RFC 4796).
    public enum Content: Hashable, Sendable {
        /// Its participant: `a=content:main`.
        case main
        /// A screen or window that the participant presents: `a=content:slides`.
        case screenShare
    }

    public var kind: Kind
    /// The index of the stream's `m=` line.
    public var index: Int
    /// The identification tag (RFC 5888) when the descriptions have one.
    public var mid: String?
    public var payloadType: UInt8
    /// The payload type of retransmissions in streams of their own (RFC 4588); nil where the identical packets are sent
    /// again.
    public var retransmissionPayloadType: UInt8?
    /// Video: the payload type of forward error correction in a stream of its own (FlexFEC,
    /// draft-ietf-payload-flexible-fec-scheme-03); nil where there is none.
    public var flexFECPayloadType: UInt8?
    /// Audio: the payload type of packets that repeat earlier ones (RED, RFC 2198); nil where there are none.
    public var redundancyPayloadType: UInt8?
    /// Ticks of the RTP timestamp per second: 90000 for video, 48000 for audio.
    public var clockRate: Int32
    /// What the stream shows. A session has at most one video stream of each content.
    public var content: Content
    /// The flow as the local side sees it.
    public var direction: MediaDirection
    /// Whether the local side sends.
    public var sends: Bool { direction.sends }
    /// Whether the local side receives.
    public var receives: Bool { direction.receives }

    /// The keys that the descriptions carry (`a=crypto`), which streams of one bundle share; nil where a DTLS handshake
    /// makes them.
    public var keys: SRTPKeyPair?

    /// Video: what the remote side can receive, and so what may be sent to it: profile, highest level and
    /// packetization mode. Its `profileLevelID` is nil where the remote side named none.
    public var h264: H264FormatParameters?
    /// Audio: what the remote side wants to receive.
    public var opus: OpusFormatParameters?

    public var feedback: FeedbackSupport
    /// The identifiers of header extensions to read in what arrives and, for those in `outboundExtensionIDs`, to write.
    public var extensionIDs: HeaderExtensionIDs
    /// Those of `extensionIDs` that the remote side wants to get.
    public var outboundExtensionIDs: HeaderExtensionIDs

    /// The sources that the remote side announced (RFC 5576), retransmission streams left out. Often empty.
    public var remoteSSRCs: [UInt32]
    /// The source that the local side sends with and reports as.
    public var localSSRC: UInt32
    /// The source of the local side's retransmissions; nil without `retransmissionPayloadType`.
    public var localRetransmissionSSRC: UInt32?
    /// The announced sources of the remote side's retransmissions, each with the source that it repairs
    /// (`a=ssrc-group:FID`, RFC 5576).
    public var remoteRetransmissionSSRCs: [UInt32: UInt32]
    /// The source of the local side's forward error correction; nil without `flexFECPayloadType`.
    public var localFlexFECSSRC: UInt32?
    /// The announced sources of the remote side's forward error correction, each with the source that it protects
    /// (`a=ssrc-group:FEC-FR`, RFC 5956).
    public var remoteFlexFECSSRCs: [UInt32: UInt32]
    /// RTP and RTCP share a port (RFC 5761).
    public var rtcpMux: Bool
    /// Reduced-size RTCP may be sent (RFC 5506).
    public var reducedSizeRTCP: Bool
    /// Where the remote side said it receives RTP; nil when it named no usable address. A hint only: nothing is to be
    /// believed of addresses until a packet from there has passed authentication.
    public var remoteRTPAddress: TransportAddress?
    /// Where the remote side said it receives RTCP; the same as `remoteRTPAddress` with `rtcpMux`.
    public var remoteRTCPAddress: TransportAddress?
    /// The most that the remote side wants to receive of this stream (`b=TIAS`, `b=AS`).
    public var maximumBitRate: BitRate?

    public init(
        kind: Kind, index: Int, mid: String? = nil, payloadType: UInt8,
        retransmissionPayloadType: UInt8? = nil, flexFECPayloadType: UInt8? = nil,
        redundancyPayloadType: UInt8? = nil, clockRate: Int32, content: Content = .main, direction: MediaDirection,
        keys: SRTPKeyPair?, h264: H264FormatParameters? = nil,
        opus: OpusFormatParameters? = nil, feedback: FeedbackSupport = .none,
        extensionIDs: HeaderExtensionIDs = HeaderExtensionIDs(),
        outboundExtensionIDs: HeaderExtensionIDs = HeaderExtensionIDs(), remoteSSRCs: [UInt32] = [],
        localSSRC: UInt32, localRetransmissionSSRC: UInt32? = nil, remoteRetransmissionSSRCs: [UInt32: UInt32] = [:],
        localFlexFECSSRC: UInt32? = nil, remoteFlexFECSSRCs: [UInt32: UInt32] = [:],
        rtcpMux: Bool = true, reducedSizeRTCP: Bool = false,
        remoteRTPAddress: TransportAddress? = nil, remoteRTCPAddress: TransportAddress? = nil,
        maximumBitRate: BitRate? = nil
    ) {
        self.kind = kind
        self.index = index
        self.mid = mid
        self.payloadType = payloadType
        self.retransmissionPayloadType = retransmissionPayloadType
        self.flexFECPayloadType = flexFECPayloadType
        self.redundancyPayloadType = redundancyPayloadType
        self.clockRate = clockRate
        self.content = content
        self.direction = direction
        self.keys = keys
        self.h264 = h264
        self.opus = opus
        self.feedback = feedback
        self.extensionIDs = extensionIDs
        self.outboundExtensionIDs = outboundExtensionIDs
        self.remoteSSRCs = remoteSSRCs
        self.localSSRC = localSSRC
        self.localRetransmissionSSRC = localRetransmissionSSRC
        self.remoteRetransmissionSSRCs = remoteRetransmissionSSRCs
        self.localFlexFECSSRC = localFlexFECSSRC
        self.remoteFlexFECSSRCs = remoteFlexFECSSRCs
        self.rtcpMux = rtcpMux
        self.reducedSizeRTCP = reducedSizeRTCP
        self.remoteRTPAddress = remoteRTPAddress
        self.remoteRTCPAddress = remoteRTCPAddress
        self.maximumBitRate = maximumBitRate
    }

    /// Video: profile and level that may be sent; nil where the remote side named none.
    public var profileLevelID: VideoFormatDescription.ProfileLevel? { h264?.profileLevelID?.profileLevel }

    /// Video: the packetization mode (RFC 6184, 5.2) of both directions.
    public var packetizationMode: UInt8 { h264?.packetizationMode ?? 0 }
}
