import LoopbackServer
import SecureTransport
import Testing

@Suite("Certificates and keys in PEM")
struct PEMCheckTests {
    private static let one = Array(LoopbackCertificate.one.certificate.utf8)
    private static let other = Array(LoopbackCertificate.other.certificate.utf8)
    private static let key = Array(LoopbackCertificate.one.key.utf8)

    @Test("a chain of certificates can be used, and the key of its first")
    func usable() throws {
        try PEMCheck.check(certificates: Self.one + Self.other)
        try PEMCheck.check(key: Self.key, of: Self.one + Self.other)
        // Some keep both in one file.
        try PEMCheck.check(key: Self.key + Self.one, of: Self.key + Self.one)
    }

    @Test(
        "what holds no certificate, or one that cannot be read, is told",
        arguments: [
            [], Array("hello".utf8), key, Array(one.dropLast(40)), one + Array(other.dropLast(40)),
            Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8),
        ])
    func noCertificate(bytes: [UInt8]) {
        #expect(throws: TLSError.noCertificate) { try PEMCheck.check(certificates: bytes) }
        #expect(throws: TLSError.noCertificate) { try PEMCheck.check(key: Self.key, of: bytes) }
    }

    @Test("what holds no key is told", arguments: [[], Array("hello".utf8), one, Array(key.dropLast(40))])
    func noKey(bytes: [UInt8]) {
        #expect(throws: TLSError.noKey) { try PEMCheck.check(key: bytes, of: Self.one) }
    }

    @Test("the key of another certificate is told")
    func otherKey() {
        #expect(throws: TLSError.keyDoesNotFit) { try PEMCheck.check(key: Self.key, of: Self.other) }
    }

    @Test("an encrypted key is told, and its passphrase is not asked for", arguments: [true, false])
    func encrypted(isTraditional: Bool) {
        let key = isTraditional ? Self.traditionalKey : Self.encryptedKey
        #expect(throws: TLSError.encryptedKey) { try PEMCheck.check(key: Array(key.utf8), of: Self.one) }
    }

    private static let encryptedKey = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhpbZ96r1qhvQICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEAQIEEPVRnJMHIlsDLR972Me3YXIEgZBN
        +lio1JkfZwkwtJ6n7F08oOe7wqHcnVwGYi3WENfx8v1dsRDzGZoVOv0gEtejqJR/
        PJkw4fqZC++Cu5xjUYXuLFLPw5WsmpMikTOt5wPoBJU09mSdYqNRraUHgV/1EIvf
        rYe5SHF5+B64U+l+pWklrm+wGbZ30NiGWmV0J2ItkRi9dM7OWV4SFsuDLcTFf+k=
        -----END ENCRYPTED PRIVATE KEY-----

        """

    private static let traditionalKey = """
        -----BEGIN EC PRIVATE KEY-----
        Proc-Type: 4,ENCRYPTED
        DEK-Info: AES-128-CBC,44A9C96CAAC867B7F36739B9FBD09199

        sA4Il/e1lGRKM0pyW/sAS+5ILNwHQ1Sw2vAqVc+UbfQvbgMYqgp7+SO7CI41gddy
        EUUePxx9oDh5A8MkdYcBOtMBPBMyGXILKwImBC5ZLqSMMXLl6wikG9yrXxFEdijQ
        EPYy4FcyV9DoEXJxUiMX82bSG7r6Ch1Ya/n3qDUPlMw=
        -----END EC PRIVATE KEY-----

        """
}
