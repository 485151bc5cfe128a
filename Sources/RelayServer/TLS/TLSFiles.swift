/// The files that HTTPS is served with, both in PEM.
public struct TLSFiles: Hashable, Sendable {
    /// The certificate, followed by those that lead from it to one that browsers know.
    public var certificate: String
    /// The certificate's private key, not encrypted.
    public var key: String

    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}
