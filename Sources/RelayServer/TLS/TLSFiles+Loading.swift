import Foundation
import Logging
import NIOSSL

extension TLSFiles {
    /// Reads the files and checks that they belong together.
    ///
    /// A certificate that is not valid today is used all the same, with a warning: the clock may be wrong.
    func load(logger: Logger) throws(StartupError) -> NIOSSLContext {
        let chain = try loadCertificates()
        let privateKey = try loadKey()
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        let context: NIOSSLContext
        do {
            context = try NIOSSLContext(configuration: configuration)
        } catch {
            throw .keyDoesNotFit(key: key, certificate: certificate)
        }
        if let leaf = chain.first { warnUnlessValid(leaf, logger: logger) }
        return context
    }

    private func loadCertificates() throws(StartupError) -> [NIOSSLCertificate] {
        let bytes = try read(certificate) { .certificateNotUsable(path: certificate, reason: $0) }
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(bytes), !chain.isEmpty else {
            throw .certificateNotUsable(
                path: certificate, reason: "it holds no certificate in PEM (-----BEGIN CERTIFICATE-----)")
        }
        return chain
    }

    private func loadKey() throws(StartupError) -> NIOSSLPrivateKey {
        let bytes = try read(key) { .keyNotUsable(path: key, reason: $0) }
        do {
            // The callback keeps the library from asking for a passphrase on the terminal.
            return try NIOSSLPrivateKey(bytes: bytes, format: .pem) { (_: NIOSSLPassphraseSetter<[UInt8]>) in
                throw EncryptedKey()
            }
        } catch {
            let text = String(decoding: bytes, as: UTF8.self)
            throw .keyNotUsable(
                path: key,
                reason: text.contains("ENCRYPTED")
                    ? "it is encrypted; decrypt it with 'openssl pkey -in \(key)' into a file that only the relay "
                        + "can read"
                    : "it holds no private key in PEM (-----BEGIN PRIVATE KEY-----)")
        }
    }

    private struct EncryptedKey: Error {}

    private func read(
        _ path: String, orThrow refusal: (String) -> StartupError
    ) throws(StartupError) -> [UInt8] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw refusal("there is no such file")
        }
        guard !isFolder.boolValue else { throw refusal("it is a folder") }
        guard let data = FileManager.default.contents(atPath: path) else { throw refusal("it cannot be read") }
        return Array(data)
    }

    private func warnUnlessValid(_ certificate: NIOSSLCertificate, logger: Logger) {
        let now = Date()
        let (start, end) = (certificate.notValidBefore, certificate.notValidAfter)
        if now > Date(timeIntervalSince1970: TimeInterval(end)) {
            logger.warning("the certificate in \(self.certificate) has expired; browsers will refuse it: renew it")
        } else if now < Date(timeIntervalSince1970: TimeInterval(start)) {
            logger.warning("the certificate in \(self.certificate) is not valid yet; browsers will refuse it")
        }
    }
}
