public import SecureTransport

/// The result of offer and answer for a transport over ICE and DTLS: one for all streams of the session (RFC 8843). ICE
/// finds its path, and a DTLS handshake makes its keys. "Local" is the side that this value was made for.
public struct NegotiatedTransport: Hashable, Sendable {
    public var localCredentials: ICECredentials
    public var remoteCredentials: ICECredentials
    /// True if the remote side only answers connectivity checks (`a=ice-lite`).
    public var isRemoteLite: Bool
    /// The addresses at which the remote side may be reached; empty if it sends them later, or if our side is lite and
    /// learns them from connectivity checks.
    public var remoteCandidates: [ICECandidate]
    /// The role of the local side in the handshake.
    public var dtlsRole: DTLSRole
    /// The allowed fingerprints: the remote side's certificate must match one of them.
    public var remoteFingerprints: [CertificateFingerprint]

    public init(
        localCredentials: ICECredentials, remoteCredentials: ICECredentials, isRemoteLite: Bool = false,
        remoteCandidates: [ICECandidate] = [], dtlsRole: DTLSRole, remoteFingerprints: [CertificateFingerprint]
    ) {
        self.localCredentials = localCredentials
        self.remoteCredentials = remoteCredentials
        self.isRemoteLite = isRemoteLite
        self.remoteCandidates = remoteCandidates
        self.dtlsRole = dtlsRole
        self.remoteFingerprints = remoteFingerprints
    }
}
