import COpenSSL
import HostileBytes
import MediaCore
import NIOCore
import OpenSSLClient
import SecureTransport
import Testing

/// Clients that the server's side of HTTPS refuses.
@Suite struct TLSRefusalTests {
    private func establish(_ options: BareTLSClient.Options = BareTLSClient.Options()) throws -> TLSLink {
        let link = try TLSLink(options)
        link.run()
        try #require(link.server.state == .established)
        return link
    }

    @Test("a changed record ends the connection with an alert; what came before it counts")
    func changedRecord() throws {
        let link = try establish()
        link.client.write(Array("sound".utf8))
        var bytes = link.client.takeOutgoing()
        link.client.write(Array("changed".utf8))
        let changed = link.client.takeOutgoing().readableBytesView.enumerated().map { $0 == 10 ? $1 ^ 1 : $1 }
        bytes.writeBytes(changed)
        link.deliver(bytes)
        link.run()
        #expect(link.request == ByteBuffer(string: "sound"))
        #expect(link.failure == .failed(reason: "decryption failed or bad record mac"))
        #expect(link.client.receivedAlert == SSL_AD_BAD_RECORD_MAC)
    }

    @Test("nothing is heard after a failure")
    func afterFailure() throws {
        let link = try establish()
        link.deliver(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"))
        let failure = try #require(link.failure)
        #expect(link.server.state == .failed(failure))
        link.client.write(Array("late".utf8))
        link.run()
        #expect(link.request.readableBytes == 0)
        #expect(throws: TLSError.notEstablished) { try link.server.write(ByteBuffer(string: "response")) }
    }

    @Test("plain HTTP is recognized")
    func plainHTTP() throws {
        let link = try TLSLink()
        link.deliver(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: relay\r\n\r\n"))
        #expect(link.failure == .failed(reason: "http request"))
    }

    @Test("a client's alert is named")
    func alert() throws {
        let link = try TLSLink(.init(verifies: true))
        link.run()
        #expect(link.failure == .alertReceived(code: 48, name: "unknown CA"))
    }

    @Test("a flood of new keys ends the connection")
    func keyFlood() throws {
        let link = try establish()
        for _ in 0..<100 { link.client.renewKeys() }
        link.client.write(Array("late".utf8))
        link.deliver(link.client.takeOutgoing())
        #expect(link.failure == .excessiveMessages)
        #expect(link.request.readableBytes == 0)
    }

    @Test("nothing is lost to a client that sends half a message: the write fails, and the connection")
    func halfMessage() throws {
        let link = try establish()
        // The head of a message that renews keys, without its body.
        link.deliver(try link.client.handshakeRecord([24, 0, 0, 1]))
        #expect(link.failure == nil)
        #expect(throws: TLSError.incompleteMessage) { try link.server.write(ByteBuffer(string: "response")) }
        #expect(link.server.state == .failed(.incompleteMessage))
    }

    @Test("renegotiation is refused, which an OpenSSL client does not put up with")
    func renegotiation() throws {
        let link = try establish(.init(version: BareTLSClient.Version.tls12))
        link.client.renegotiate()
        link.run()
        #expect(link.failure == .alertReceived(code: 40, name: "handshake failure"))
    }

    @Test("changed handshakes and records never yield anything that the client did not say")
    func hostileBytes() throws {
        var random = SeededGenerator(seed: 7)
        for round in 0..<400 {
            let link = try TLSLink(
                .init(version: round % 2 == 0 ? BareTLSClient.Version.tls12 : BareTLSClient.Version.tls13))
            if round % 4 < 2 { link.run() } else { link.client.advance() }
            link.client.write(Array("request".utf8))
            let bytes = Array(link.client.takeOutgoing().readableBytesView)
            link.deliver(ByteBuffer(bytes: random.mutate(bytes)))
            link.run()
            let said = Array(link.request.readableBytesView)
            #expect(said.isEmpty || said == Array("request".utf8))
            while link.server.takeOutgoing() != nil {}
        }
    }

    @Test("random bytes end in a failure or in waiting, and answer with an alert at most")
    func randomBytes() throws {
        var random = SeededGenerator(seed: 8)
        for _ in 0..<400 {
            let link = try TLSLink()
            let count = Int.random(in: 1...2000, using: &random)
            var bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            // Half of them look like a handshake.
            if Bool.random(using: &random) { bytes.insert(contentsOf: [22, 3, 1, 2, 0, 1, 0], at: 0) }
            link.deliver(ByteBuffer(bytes: bytes))
            #expect(link.request.readableBytes == 0)
            #expect(link.server.state != .established)
            #expect((link.server.takeOutgoing()?.readableBytes ?? 0) <= 7)
        }
    }
}
