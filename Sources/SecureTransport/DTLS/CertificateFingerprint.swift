internal import MediaCore

/// The SHA-256 digest of a certificate (`a=fingerprint` of RFC 8122, section 5), by which a session description
/// vouches for the certificate of the DTLS handshake.
public struct CertificateFingerprint: Hashable, Sendable, CustomStringConvertible {
    /// The digest's 32 bytes.
    public let digest: [UInt8]

    /// Creates the fingerprint; nil unless there are 32 bytes.
    public init?(digest: [UInt8]) {
        guard digest.count == Self.digestSize else { return nil }
        self.digest = digest
    }

    /// Parses the digest's text: 32 pairs of hexadecimal digits of either case, joined by colons.
    public init?(_ text: some StringProtocol) {
        let pairs = Array(text.utf8).split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var digest: [UInt8] = []
        for pair in pairs.prefix(Self.digestSize + 1) {
            guard pair.count == 2, let byte = [UInt8](hexadecimal: pair)?.first else { return nil }
            digest.append(byte)
        }
        self.init(digest: digest)
    }

    private static let digestSize = 32

    /// The digest as `a=fingerprint` writes it, in upper case.
    public var description: String {
        digest.map { [$0].hexadecimal.uppercased() }.joined(separator: ":")
    }
}
