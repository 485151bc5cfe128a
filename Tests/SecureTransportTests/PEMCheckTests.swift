import OpenSSLClient
import SecureTransport
import Testing

@Suite("Certificates and keys in PEM")
struct PEMCheckTests {
    private let one: BareCertificate
    private let other: BareCertificate

    init() throws {
        one = try BareCertificate()
        other = try BareCertificate()
    }

    @Test("a chain of certificates can be used, and the key of its first")
    func usable() throws {
        let chain = one.certificateText + other.certificateText
        try PEMCheck.check(certificates: chain)
        try PEMCheck.check(key: one.keyText, of: chain)
        // Some keep both in one file.
        try PEMCheck.check(key: one.keyText + one.certificateText, of: one.keyText + one.certificateText)
    }

    @Test("what holds no certificate, or one that cannot be read, is told")
    func noCertificate() {
        let broken = Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)
        let (text, cut) = (one.certificateText, Array(other.certificateText.dropLast(40)))
        for bytes in [[], Array("hello".utf8), one.keyText, cut, text + cut, broken] {
            #expect(throws: TLSError.noCertificate) { try PEMCheck.check(certificates: bytes) }
            #expect(throws: TLSError.noCertificate) { try PEMCheck.check(key: one.keyText, of: bytes) }
        }
    }

    @Test("what holds no key is told")
    func noKey() {
        for bytes in [[], Array("hello".utf8), one.certificateText, Array(one.keyText.dropLast(40))] {
            #expect(throws: TLSError.noKey) { try PEMCheck.check(key: bytes, of: one.certificateText) }
        }
    }

    @Test("the key of another certificate is told")
    func otherKey() {
        #expect(throws: TLSError.keyDoesNotFit) { try PEMCheck.check(key: one.keyText, of: other.certificateText) }
    }

    @Test("an encrypted key is told, and its passphrase is not asked for")
    func encrypted() {
        for key in [one.encryptedKeyText, one.traditionallyEncryptedKeyText] {
            #expect(throws: TLSError.encryptedKey) { try PEMCheck.check(key: key, of: one.certificateText) }
        }
    }
}
