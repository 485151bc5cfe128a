import Foundation
import NIOSSL

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

    /// What TLS connections to etcd are made with.
    ///
    /// - Throws: Which file cannot be used, and why.
    func tlsConfiguration() throws(StartupError) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        do {
            if let trustedCertificates {
                configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(trustedCertificates))
            }
            if let certificate, let key {
                configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(certificate)
                    .map { .certificate($0) }
                configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
            }
        } catch {
            throw .clusterNotUsable(reason: "the files of etcd's TLS cannot be used: \(error)")
        }
        return configuration
    }
}
