import NIOCore
import OpenSSLClient
import SecureTransport
import Testing

/// What HTTPS is served with.
@Suite struct TLSServerContextTests {
    private let own: BareCertificate
    private let other: BareCertificate

    init() throws {
        own = try BareCertificate()
        other = try BareCertificate()
    }

    @Test("a certificate and its key are taken, and the certificate's time is known", arguments: [nil, 2048])
    func goodPair(rsaBits: Int32?) throws {
        let certificate = try BareCertificate(rsaBits: rsaBits)
        let context = try TLSServerContext(certificateChain: certificate.certificateText, key: certificate.keyText)
        #expect(context.notBefore == Int64(BareCertificate.validity.lowerBound))
        #expect(context.notAfter == Int64(BareCertificate.validity.upperBound))
    }

    @Test("the certificates that follow the first are shown to the client")
    func chain() throws {
        let context = try TLSServerContext(
            certificateChain: own.certificateText + other.certificateText, key: own.keyText)
        let server = try TLSServerConnection(context: context)
        let client = try BareTLSClient()
        client.advance()
        var nothing = [UInt8]()
        var plaintext = ByteBuffer()
        try server.receive(client.takeOutgoing(), into: &plaintext)
        nothing += try client.receive(#require(server.takeOutgoing()))
        #expect(client.certificateCount == 2)
        #expect(nothing.isEmpty)
    }

    @Test("a key in the certificate's file does no harm")
    func oneFile() throws {
        let text = own.keyText + own.certificateText
        #expect(throws: Never.self) { try TLSServerContext(certificateChain: text, key: text) }
    }

    @Test("text without a certificate is refused")
    func noCertificate() {
        for text in [[], Array("hello\n".utf8), own.keyText] {
            #expect(throws: TLSError.noCertificate) { try TLSServerContext(certificateChain: text, key: own.keyText) }
        }
    }

    @Test("a damaged certificate is refused, after a sound one too")
    func damagedCertificate() {
        let damaged = own.certificateText.map { $0 == UInt8(ascii: "M") ? UInt8(ascii: "!") : $0 }
        for text in [damaged, own.certificateText + damaged] {
            #expect(throws: TLSError.noCertificate) { try TLSServerContext(certificateChain: text, key: own.keyText) }
        }
    }

    @Test("text without a key is refused")
    func noKey() {
        for text in [[], Array("hello\n".utf8), own.certificateText] {
            #expect(throws: TLSError.noKey) {
                try TLSServerContext(certificateChain: own.certificateText, key: text)
            }
        }
    }

    @Test("an encrypted key is refused, and nobody is asked for its password")
    func encryptedKey() {
        for text in [own.encryptedKeyText, own.traditionallyEncryptedKeyText] {
            #expect(throws: TLSError.encryptedKey) {
                try TLSServerContext(certificateChain: own.certificateText, key: text)
            }
        }
    }

    @Test("another certificate's key is refused", arguments: [nil, 2048])
    func otherKey(rsaBits: Int32?) throws {
        let stranger = try BareCertificate(rsaBits: rsaBits)
        #expect(throws: TLSError.keyDoesNotFit) {
            try TLSServerContext(certificateChain: own.certificateText, key: stranger.keyText)
        }
    }

    @Test("a key that is too short is refused, with the reason")
    func shortKey() throws {
        let weak = try BareCertificate(rsaBits: 1024)
        #expect(throws: TLSError.certificateRefused(reason: "ee key too small")) {
            try TLSServerContext(certificateChain: weak.certificateText, key: weak.keyText)
        }
    }
}
