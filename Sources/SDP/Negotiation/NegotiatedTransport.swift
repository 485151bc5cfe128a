public import SecureTransport

/// What offer and answer agreed on for a transport whose path ICE finds and whose keys a DTLS handshake makes: one for
/// all streams of the session (RFC 8843). "Local" is the side that this value was made for.
public struct NegotiatedTransport: Hashable, Sendable {
    public var localCredentials: ICECredentials
    public var remoteCredentials: ICECredentials
    /// Whether the remote side only answers checks (`a=ice-lite`).
    public var isRemoteLite: Bool
    /// Where the remote side may be reached; empty where it will tell later, or where our side is lite and learns it
    /// from checks.
    public var remoteCandidates: [ICECandidate]
    /// What the local side plays in the handshake.
    public var dtlsRole: DTLSRole
    /// The remote side's certificate has one of these.
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
