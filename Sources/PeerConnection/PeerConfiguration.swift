public import CongestionControl
package import MediaCore
import RTP
public import SecureTransport

/// The settings of a `PeerConnection`, in addition to the negotiated session.
public struct PeerConfiguration: Sendable {
    /// The limits of the sent rate, audio included.
    public var rateLimits: RateLimits
    /// True if media may go to the addresses of the remote description before a packet from there has authenticated.
    public var trustsRemoteDescription: Bool
    /// Seeds sequence numbers, timestamps and report intervals.
    public var seed: UInt64
    /// Our certificate in DTLS handshakes; required for sessions over DTLS.
    public var certificate: DTLSCertificate?
    /// Without an authentic packet for this long, nothing is sent to a remote side that was heard before; nil: no
    /// limit. ICE, whose consent has the same effect, ignores it.
    public var silenceLimit: Duration?
    /// The timing of feedback to a remote side that states no interval.
    package var feedbackTiming = FeedbackTiming.standard
    /// True if the end of a frame is reported at once, with feedback of RFC 8888.
    package var reportsFrameEnds = true
    /// True if padding is sent when a probe lacks media.
    package var canPad = true
    /// The most synchronization sources of each direction at a time.
    package var maximumSourceCount = SRTPContext.maximumSourceCount
    /// True if packets are encrypted and authenticated. Simulated connections need no protection: nobody else is on
    /// their path.
    package var isProtected = true
    /// Makes the identifiers of connectivity checks, which nobody may foresee.
    public var checkIdentifiers: any RandomNumberGenerator & Sendable

    /// The largest UDP payload that is sent: every path carries it without fragmentation, tunnels included.
    static let maximumDatagramSize = DataSize(bytes: 1200)
    /// A packet's overhead, about: RTP header (12), header extensions (up to 16) and the SRTP trailer (up
    /// to 16).
    package static let packetOverhead = DataSize(bytes: 44)
    /// The most that they have: with the line's identification tag, and in a retransmission.
    private static let maximumOverhead = packetOverhead + DataSize(bytes: 4 + RTPPacket.retransmissionOverhead)
    /// The overhead of a repair packet over the largest of the protected payloads: its own header, and their extensions
    /// among the protected data.
    private static let protectionOverhead = DataSize(bytes: FlexFECEncoder.maximumHeaderSize + 24)

    /// The largest RTP payload that is sent, so that its repair packet fits into a datagram, too. It is the same for
    /// all receivers, protected or not, because they share encoded frames.
    package static let maximumPayloadSize = maximumDatagramSize - maximumOverhead - protectionOverhead

    public init(
        rateLimits: RateLimits, trustsRemoteDescription: Bool, seed: UInt64, certificate: DTLSCertificate? = nil,
        checkIdentifiers: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.rateLimits = rateLimits
        self.trustsRemoteDescription = trustsRemoteDescription
        self.seed = seed
        self.certificate = certificate
        self.checkIdentifiers = checkIdentifiers
    }
}
