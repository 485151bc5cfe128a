import COpenSSL
import MediaCore
import NIOCore
import OpenSSLClient
import SecureTransport
import Testing

/// The server's side of HTTPS and an OpenSSL client.
@Suite struct TLSServerConnectionTests {
    private static let versions = [BareTLSClient.Version.tls12, BareTLSClient.Version.tls13]

    private func establish(_ options: BareTLSClient.Options = BareTLSClient.Options()) throws -> TLSLink {
        let link = try TLSLink(options)
        link.run()
        try #require(link.server.state == .established && link.client.isEstablished)
        return link
    }

    @Test("TLS 1.2 and 1.3 carry data both ways", arguments: versions)
    func data(version: Int32) throws {
        let link = try establish(.init(version: version))
        link.client.write(Array("request".utf8))
        try link.server.write(ByteBuffer(string: "response"))
        link.run()
        #expect(link.request == ByteBuffer(string: "request"))
        #expect(link.response == Array("response".utf8))
    }

    @Test("TLS 1.1 is refused with the alert protocol_version")
    func oldVersion() throws {
        let link = try TLSLink(.init(version: BareTLSClient.Version.tls11))
        link.run()
        #expect(link.client.receivedAlert == SSL_AD_PROTOCOL_VERSION)
        #expect(link.failure == .failed(reason: "unsupported protocol"))
    }

    @Test(
        "of the protocols that the client names, one of HTTP/1 is chosen", arguments: versions,
        [(["h2", "http/1.1"], "http/1.1"), (["http/1.0"], "http/1.0"), (["http/1.1", "http/1.0"], "http/1.1")])
    func applicationProtocol(version: Int32, names: (offered: [String], chosen: String)) throws {
        let link = try establish(.init(version: version, protocols: names.offered))
        #expect(link.client.selectedProtocol == names.chosen)
    }

    @Test("a client that names no protocol is served")
    func noApplicationProtocol() throws {
        #expect(try establish().client.selectedProtocol == nil)
    }

    @Test(
        "a client that names only other protocols is refused", arguments: versions,
        [["h2"], ["http/1", "http/1.10", "xhttp/1.1"]])
    func otherApplicationProtocol(version: Int32, names: [String]) throws {
        let link = try TLSLink(.init(version: version, protocols: names))
        link.run()
        #expect(link.client.receivedAlert == SSL_AD_NO_APPLICATION_PROTOCOL)
        #expect(link.failure == .failed(reason: "no application protocol"))
    }

    @Test("no session can be resumed", arguments: versions)
    func resumption(version: Int32) throws {
        let link = try establish(.init(version: version))
        try link.server.write(ByteBuffer(string: "response"))
        link.run()
        #expect(!link.client.isResumable)
    }

    @Test("data of many records arrives whole, both ways", arguments: versions)
    func manyRecords(version: Int32) throws {
        let link = try establish(.init(version: version))
        var random = SeededGenerator(seed: 1)
        let bytes = (0..<1_000_003).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        link.client.write(bytes)
        try link.server.write(ByteBuffer(bytes: bytes))
        link.run()
        #expect(link.request == ByteBuffer(bytes: bytes))
        #expect(link.response == bytes)
    }

    @Test("bytes may arrive one by one", arguments: versions)
    func singleBytes(version: Int32) throws {
        let link = try TLSLink(.init(version: version))
        link.client.advance()
        for _ in 0..<10 {
            for byte in link.client.takeOutgoing().readableBytesView { link.deliver(ByteBuffer(bytes: [byte])) }
            while let bytes = link.server.takeOutgoing() { _ = link.client.receive(bytes) }
        }
        link.client.write(Array("request".utf8))
        for byte in link.client.takeOutgoing().readableBytesView { link.deliver(ByteBuffer(bytes: [byte])) }
        #expect(link.request == ByteBuffer(string: "request"))
        #expect(link.failure == nil)
    }

    @Test("a record says nothing before its last byte", arguments: versions)
    func incompleteRecord(version: Int32) throws {
        let link = try establish(.init(version: version))
        link.client.write(Array("request".utf8))
        var bytes = link.client.takeOutgoing()
        let last = bytes.readableBytesView.suffix(1)
        bytes.moveWriterIndex(to: bytes.writerIndex - 1)
        link.deliver(bytes)
        #expect(link.request.readableBytes == 0)
        link.deliver(ByteBuffer(bytes: last))
        #expect(link.request == ByteBuffer(string: "request"))
    }

    @Test("after the client's close_notify the server may still speak", arguments: versions)
    func clientCloses(version: Int32) throws {
        let link = try establish(.init(version: version))
        link.client.write(Array("request".utf8))
        link.client.close()
        link.run()
        #expect(link.request == ByteBuffer(string: "request"))
        #expect(link.server.state == .inputClosed)
        try link.server.write(ByteBuffer(string: "response"))
        link.server.closeOutput()
        #expect(link.server.takeOutgoing() != nil)
    }

    @Test("after its close_notify the server still hears the client, and sends nothing more", arguments: versions)
    func serverCloses(version: Int32) throws {
        let link = try establish(.init(version: version))
        link.server.closeOutput()
        link.run()
        #expect(link.client.hasSeenClose)
        link.client.write(Array("request".utf8))
        link.run()
        #expect(link.request == ByteBuffer(string: "request"))
        #expect(throws: TLSError.notEstablished) { try link.server.write(ByteBuffer(string: "response")) }
        link.server.closeOutput()
        #expect(link.server.takeOutgoing() == nil)
    }

    @Test("before the handshake is complete nothing is sent")
    func early() throws {
        let link = try TLSLink()
        #expect(throws: TLSError.notEstablished) { try link.server.write(ByteBuffer(string: "response")) }
        link.server.closeOutput()
        #expect(link.server.takeOutgoing() == nil)
        #expect(!link.server.isOutputClosed)
    }

    @Test("the client may renew its keys", arguments: [1, 16])
    func newKeys(count: Int) throws {
        let link = try establish()
        for _ in 0..<count {
            link.client.renewKeys()
            link.run()
        }
        link.client.write(Array("request".utf8))
        try link.server.write(ByteBuffer(string: "response"))
        link.run()
        #expect(link.request == ByteBuffer(string: "request"))
        #expect(link.response == Array("response".utf8))
    }
}
