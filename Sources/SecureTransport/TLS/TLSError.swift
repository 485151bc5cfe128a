/// The reason for which TLS cannot be served, or for which a connection failed.
public enum TLSError: Error, Hashable, CustomStringConvertible {
    /// There is no certificate in PEM, or the text of one is damaged.
    case noCertificate
    /// There is no private key in PEM, or its text is damaged.
    case noKey
    /// The private key is encrypted.
    case encryptedKey
    /// The private key is not that of the first certificate.
    case keyDoesNotFit
    /// The library does not accept the certificates, such as those with short keys; its own words.
    case certificateRefused(reason: String)
    /// The other side ended the connection with this alert.
    case alertReceived(code: UInt8, name: String)
    /// The connection cannot continue; the library's words.
    case failed(reason: String)
    /// The other side asked for new keys, or warned, more often than an honest one does.
    case excessiveMessages
    /// The other side has sent only a part of a message without data, and nothing can be sent before its rest is here.
    case incompleteMessage
    /// The connection ended without `close_notify`: someone may have cut it.
    case truncated
    /// There are no keys to protect data with: the handshake is not complete, or the connection has ended.
    case notEstablished
    /// The library failed for a reason that is not the other side's; its own words.
    case library(reason: String)

    public var description: String {
        switch self {
        case .noCertificate: "there is no certificate in PEM (-----BEGIN CERTIFICATE-----)"
        case .noKey: "there is no private key in PEM (-----BEGIN PRIVATE KEY-----)"
        case .encryptedKey: "the private key is encrypted: decrypt it with 'openssl pkey'"
        case .keyDoesNotFit: "the private key is not that of the first certificate"
        case .certificateRefused(let reason): "OpenSSL refuses the certificate: \(reason)"
        case .alertReceived(let code, let name): "the other side sent the TLS alert \(code) (\(name))"
        case .failed(let reason): "the TLS connection failed: \(reason)"
        case .excessiveMessages: "the other side sent more TLS messages without data than an honest one does"
        case .incompleteMessage: "the other side sent a part of a TLS message without data, and not its rest"
        case .truncated: "the other side ended the connection without close_notify"
        case .notEstablished: "the TLS connection has no keys: its handshake is not complete, or it has ended"
        case .library(let reason): "OpenSSL failed: \(reason)"
        }
    }
}
