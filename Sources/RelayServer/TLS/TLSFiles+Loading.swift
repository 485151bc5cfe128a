import Foundation
import Logging
import SecureTransport

extension TLSFiles {
    /// Reads the files and checks that they belong together.
    ///
    /// A certificate that is not valid today is used all the same, with a warning: the clock may be wrong.
    func load(logger: Logger) throws(StartupError) -> TLSServerContext {
        let chain = try read(certificate) { .certificateNotUsable(path: certificate, reason: $0) }
        let privateKey = try read(key) { .keyNotUsable(path: key, reason: $0) }
        let context: TLSServerContext
        do {
            context = try TLSServerContext(certificateChain: chain, key: privateKey)
        } catch {
            throw startupError(for: error)
        }
        warnUnlessValid(context, logger: logger)
        return context
    }

    private func startupError(for error: TLSError) -> StartupError {
        switch error {
        case .noCertificate:
            .certificateNotUsable(
                path: certificate, reason: "it holds no certificate in PEM (-----BEGIN CERTIFICATE-----)")
        case .noKey:
            .keyNotUsable(path: key, reason: "it holds no private key in PEM (-----BEGIN PRIVATE KEY-----)")
        case .encryptedKey:
            .keyNotUsable(
                path: key,
                reason: "it is encrypted; decrypt it with 'openssl pkey -in \(key)' into a file that only the relay "
                    + "can read")
        case .keyDoesNotFit: .keyDoesNotFit(key: key, certificate: certificate)
        default: .certificateNotUsable(path: certificate, reason: "\(error)")
        }
    }

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

    private func warnUnlessValid(_ context: TLSServerContext, logger: Logger) {
        let now = Int64(Date().timeIntervalSince1970)
        if let last = context.notAfter, now > last {
            logger.warning("the certificate in \(self.certificate) has expired; browsers will refuse it: renew it")
        } else if let first = context.notBefore, now < first {
            logger.warning("the certificate in \(self.certificate) is not valid yet; browsers will refuse it")
        }
    }
}
