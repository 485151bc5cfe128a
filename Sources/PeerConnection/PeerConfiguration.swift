public import CongestionControl
package import MediaCore
import RTP
public import SecureTransport

/// The settings of a `PeerConnection`, besides the negotiated session.
public struct PeerConfiguration: Sendable {
    /// Bounds of what is sent, audio included.
    public var rateLimits: RateLimits
    /// Whether the addresses of the remote description may be sent to before a packet from there has authenticated.
    public var trustsRemoteDescription: Bool
    /// Seeds sequence numbers, timestamps and report intervals.
    public var seed: UInt64
    /// Our certificate in DTLS handshakes; required for sessions over DTLS.
    public var certificate: DTLSCertificate?
    /// Without an authentic packet for so long, nothing is sent to a remote side that has been heard; nil: it is sent
    /// to all the same. Of no effect with ICE, whose consent does the same.
    public var silenceLimit: Duration?
    /// How often the remote side is told which packets came.
    public var feedbackTiming = FeedbackTiming.confclient
    /// Whether the end of a frame is told at once, where feedback is that of RFC 8888.
    package var reportsFrameEnds = true
    /// Whether padding is sent where a probe lacks media.
    package var canPad = true
    /// Whether packets are encrypted and authenticated. Simulated connections do without: nobody else is on their path.
    package var isProtected = true
    /// Makes the identifiers of connectivity checks, which nobody may foresee.
    public var checkIdentifiers: any RandomNumberGenerator & Sendable

    /// The largest UDP payload sent: what every path carries without fragmentation, tunnels included.
    static let maximumDatagramSize = DataSize(bytes: 1200)
    /// A packet's overhead, about: RTP header (12), header extensions (up to 16) and the SRTP trailer (up
    /// to 16).
    package static let packetOverhead = DataSize(bytes: 44)
    /// The most that they have: with the line's identification tag, and in a retransmission.
    private static let maximumOverhead = packetOverhead + DataSize(bytes: 4 + RTPPacket.retransmissionOverhead)
    /// What a packet that protects others has besides the largest of their payloads: its own header, and their
    /// extensions among what is protected.
    private static let protectionOverhead = DataSize(bytes: FlexFECEncoder.maximumHeaderSize + 24)

    /// The largest RTP payload sent: what protects such a packet fits into a datagram, too. One for all receivers,
    /// whether they are protected or not: they share what is encoded.
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
