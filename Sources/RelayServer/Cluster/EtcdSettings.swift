import Foundation
import HTTPTransfer
import SecureTransport

/// How etcd is reached.
public struct EtcdSettings: Sendable {
    /// A member of the etcd cluster: `http://host:2379`.
    public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
        public let url: String

        /// Checks an address: `http` or `https`, a host, perhaps a port, and no path; nil for any other.
        public init?(_ text: String) {
            guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
                scheme == "http" || scheme == "https", let host = parts.host, !host.isEmpty,
                parts.path.isEmpty || parts.path == "/", parts.query == nil, parts.fragment == nil, parts.user == nil
            else { return nil }
            url = "\(scheme)://\(host):\(parts.port ?? 2379)"
        }

        public var description: String { url }
    }

    /// Tried in turn.
    public var endpoints: [Endpoint]
    /// The name of a user of etcd; nil: etcd asks for none.
    public var user: String?
    /// The file that has that user's password in its first line. It is read for each login: the password may change.
    public var passwordFile: String?
    /// A file of certificates (PEM) that etcd's is checked with; nil: the system's.
    public var trustedCertificates: String?
    /// The relay's own certificate and key (PEM); nil: none.
    public var certificate: String?
    public var key: String?

    public init(endpoints: [Endpoint]) { self.endpoints = endpoints }

    /// Reads what TLS connections to etcd are made with.
    ///
    /// - Throws: Which file cannot be used, and why.
    func readTLSFiles() throws(StartupError) -> HTTPClient.TLS {
        var tls = HTTPClient.TLS()
        if let trustedCertificates {
            let bytes = try Self.read(trustedCertificates)
            try Self.check(trustedCertificates) { () throws(TLSError) in
                try PEMCheck.check(certificates: bytes)
            }
            tls.trusted = bytes
        }
        if let certificate, let key {
            let (chain, secret) = (try Self.read(certificate), try Self.read(key))
            try Self.check(certificate) { () throws(TLSError) in try PEMCheck.check(certificates: chain) }
            try Self.check(key) { () throws(TLSError) in try PEMCheck.check(key: secret, of: chain) }
            (tls.certificate, tls.key) = (chain, secret)
        }
        return tls
    }

    private static func read(_ path: String) throws(StartupError) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw notUsable(path, reason: "it cannot be read")
        }
        return Array(data)
    }

    private static func check(
        _ path: String, _ body: () throws(TLSError) -> Void
    ) throws(StartupError) {
        do throws(TLSError) {
            try body()
        } catch {
            let reason =
                switch error {
                case .noCertificate: "it holds no certificate in PEM (-----BEGIN CERTIFICATE-----)"
                case .noKey: "it holds no private key in PEM (-----BEGIN PRIVATE KEY-----)"
                case .encryptedKey: "it is encrypted; decrypt it with 'openssl pkey -in \(path)'"
                case .keyDoesNotFit: "it is not the key of the certificate"
                default: error.description
                }
            throw notUsable(path, reason: reason)
        }
    }

    private static func notUsable(_ path: String, reason: String) -> StartupError {
        .clusterNotUsable(reason: "the files of etcd's TLS cannot be used: \(path): \(reason)")
    }
}
