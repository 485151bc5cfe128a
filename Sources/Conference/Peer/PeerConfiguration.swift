public import MediaCore
public import RateControl

/// What a `PeerConnection` needs besides the negotiated session.
public struct PeerConfiguration: Sendable {
    /// Bounds of what is sent, audio included.
    public var rateLimits: RateLimits
    /// Largest UDP payload sent.
    public var maximumDatagramSize = DataSize(bytes: 1200)
    /// Whether the addresses of the remote description may be sent to before a packet from there has authenticated.
    public var trustsRemoteDescription: Bool
    /// Seeds sequence numbers, timestamps and report intervals.
    public var seed: UInt64

    public init(rateLimits: RateLimits, trustsRemoteDescription: Bool, seed: UInt64) {
        self.rateLimits = rateLimits
        self.trustsRemoteDescription = trustsRemoteDescription
        self.seed = seed
    }
}
