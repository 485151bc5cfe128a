public import MediaCore
public import SecureTransport

/// The result of offer and answer for one accepted stream. "Local" is the side that this value was made for: the
/// answerer if `OfferAnswer.answer` made it, the offerer if `OfferAnswer.complete` did.
public struct NegotiatedMedia: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case audio
        case video
    }

    /// The content of a video stream (`a=content`, RFC 4796).
    public enum Content: Hashable, Sendable {
        /// The participant's camera: `a=content:main`.
        case main
        /// A screen or window that the participant shares: `a=content:slides`.
        case screenShare
        /// A source of another relay's participant, on a link between two relays: by the index of its line.
        case relayed(Int)
    }

    public var kind: Kind
    /// The index of the stream's `m=` line.
    public var index: Int
    /// The identification tag (RFC 5888); nil if the descriptions have none.
    public var mid: String?
    public var payloadType: UInt8
    /// The payload type of retransmissions in streams of their own (RFC 4588); nil if the identical packets are sent
    /// again.
    public var retransmissionPayloadType: UInt8?
    /// Video: the payload type of forward error correction in a stream of its own (FlexFEC,
    /// draft-ietf-payload-flexible-fec-scheme-03); nil if there is none.
    public var flexFECPayloadType: UInt8?
    /// Audio: the payload type of packets that repeat earlier ones (RED, RFC 2198); nil if there are none.
    public var redundancyPayloadType: UInt8?
    /// The content of the stream. A session has at most one video stream of each content. Audio streams of
    /// participants are all `main`.
    public var content: Content
    /// The direction as the local side sees it.
    public var direction: MediaDirection
    /// True if the local side sends.
    public var sends: Bool { direction.sends }
    /// True if the local side receives.
    public var receives: Bool { direction.receives }

    /// The keys that the descriptions carry (`a=crypto`), which streams of one bundle share; nil if a DTLS handshake
    /// makes them.
    public var keys: SRTPKeyPair?

    /// Video: the parameters of the remote side's decoder, which are the limits of our stream: profile, highest level
    /// and packetization mode. `profileLevelID` is nil if the remote side named none.
    public var h264: H264FormatParameters?
    /// Audio: the parameters that the remote side wants to receive.
    public var opus: OpusFormatParameters?

    public var feedback: FeedbackSupport
    /// The identifiers of header extensions in arriving packets. We write only those in `outboundExtensionIDs`.
    public var extensionIDs: HeaderExtensionIDs
    /// The subset of `extensionIDs` that the remote side wants to receive.
    public var outboundExtensionIDs: HeaderExtensionIDs

    /// The sources that the remote side announced (RFC 5576), without retransmission streams. Often empty.
    public var remoteSSRCs: [UInt32]
    /// The source with which the local side sends and reports.
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
    /// True if the remote side announces all sources, and a packet of any other belongs to no stream.
    public var hasOnlyAnnouncedSources = false
    /// True if RTP and RTCP share a port (RFC 5761).
    public var rtcpMux: Bool
    /// True if reduced-size RTCP may be sent (RFC 5506).
    public var reducedSizeRTCP: Bool
    /// The address at which the remote side says that it receives RTP; nil if it named no usable address. It is only a
    /// hint: no address is trusted until a packet from there has passed authentication.
    public var remoteRTPAddress: TransportAddress?
    /// The address at which the remote side says that it receives RTCP; equal to `remoteRTPAddress` with `rtcpMux`.
    public var remoteRTCPAddress: TransportAddress?
    /// The highest rate that the remote side wants to receive of this stream (`b=TIAS`, `b=AS`).
    public var maximumBitRate: BitRate?

    public init(
        kind: Kind, index: Int, mid: String? = nil, payloadType: UInt8,
        retransmissionPayloadType: UInt8? = nil, flexFECPayloadType: UInt8? = nil,
        redundancyPayloadType: UInt8? = nil, content: Content = .main, direction: MediaDirection,
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

    /// Video: the profile and level that we may send; nil if the remote side named none.
    public var profileLevelID: H264ProfileLevelID? { h264?.profileLevelID }

    /// Video: the packetization mode (RFC 6184, 5.2) of both directions.
    public var packetizationMode: UInt8 { h264?.packetizationMode ?? 0 }
}
