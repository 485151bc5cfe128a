/// The files that HTTPS is served with, both in PEM.
public struct TLSFiles: Hashable, Sendable {
    /// The path of the certificate, followed in its file by the chain up to one that browsers know.
    public var certificate: String
    /// The certificate's private key, not encrypted.
    public var key: String

    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}
