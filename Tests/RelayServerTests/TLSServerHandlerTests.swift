import HostileBytes
import MediaCore
import NIOCore
import NIOEmbedded
import NIOPosix
import OpenSSLClient
import SecureTransport
import Testing

@testable import RelayServer

@Suite("A connection with TLS")
struct TLSServerHandlerTests {
    @Test("requests and answers pass", arguments: [BareTLSClient.Version.tls12, BareTLSClient.Version.tls13])
    func data(version: Int32) throws {
        let link = try TLSChannel(.init(version: version)).establish()
        link.client.write(Array("request".utf8))
        try link.run()
        #expect(link.program.request == "request")
        try link.channel.writeOutbound(ByteBuffer(string: "answer"))
        try link.run()
        #expect(link.response == Array("answer".utf8))
    }

    @Test("writes go to the socket together with the next flush, and complete with it")
    func flush() throws {
        let link = try TLSChannel().establish()
        link.socket.isFull = true
        var completed = 0
        for part in ["head", "body", ""] {
            link.write(part).assumeIsolated().whenSuccess { completed += 1 }
        }
        #expect(link.socket.takeSent().isEmpty)
        link.channel.flush()
        #expect(link.socket.takeSent().count == 1)
        #expect(completed == 0)
        link.socket.drain()
        #expect(completed == 3)
    }

    @Test("an empty write completes")
    func emptyWrite() throws {
        let link = try TLSChannel().establish()
        let written = link.write("")
        link.channel.flush()
        try written.wait()
    }

    @Test("a write before the handshake fails")
    func earlyWrite() throws {
        let link = try TLSChannel()
        let written = link.write("answer")
        #expect(throws: TLSError.notEstablished) { try written.wait() }
        #expect(link.channel.isActive)
    }

    @Test("a close sends what was written and close_notify, and closes then")
    func close() throws {
        let link = try TLSChannel().establish()
        link.socket.isFull = true
        let written = link.write("answer")
        let closed = link.channel.close()
        try link.run()
        #expect(link.response == Array("answer".utf8))
        #expect(link.client.hasSeenClose)
        #expect(link.channel.isActive)
        link.socket.drain()
        #expect(!link.channel.isActive)
        link.channel.embeddedEventLoop.run()
        try written.wait()
        try closed.wait()
        #expect(link.program.errors.isEmpty)
    }

    @Test("during a close nothing is heard")
    func requestWhileClosing() throws {
        let link = try TLSChannel().establish()
        link.socket.isFull = true
        link.channel.close(promise: nil)
        link.client.write(Array("request".utf8))
        try link.run()
        #expect(link.channel.isActive)
        #expect(link.program.request.isEmpty)
        link.socket.drain()
    }

    @Test("a client that does not take the last bytes is closed after 5 s")
    func closeTimeout() throws {
        let link = try TLSChannel().establish()
        link.socket.isFull = true
        let closed = link.channel.close()
        link.channel.embeddedEventLoop.advanceTime(by: .milliseconds(4999))
        #expect(link.channel.isActive)
        link.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!link.channel.isActive)
        link.channel.embeddedEventLoop.run()
        try closed.wait()
    }

    @Test("a close that is under way completes when the client is gone, too")
    func goneWhileClosing() throws {
        let link = try TLSChannel().establish()
        link.socket.isFull = true
        let closes = [link.channel.close(), link.channel.close()]
        link.channel.pipeline.fireChannelInactive()
        link.socket.drain()
        _ = try link.channel.finish(acceptAlreadyClosed: true)
        for close in closes { try close.wait() }
    }

    @Test("before the handshake a close sends nothing")
    func earlyClose() throws {
        let link = try TLSChannel()
        try link.channel.close().wait()
        #expect(!link.channel.isActive)
        #expect(link.socket.takeSent().isEmpty)
    }

    @Test("a close of our direction sends close_notify, and leaves the client's open")
    func closeOutput() throws {
        let link = try TLSChannel().establish()
        try link.channel.close(mode: .output).wait()
        try link.run()
        #expect(link.client.hasSeenClose)
        #expect(link.socket.closes == [.output])
        link.client.write(Array("request".utf8))
        try link.run()
        #expect(link.program.request == "request")
        let written = link.write("late")
        #expect(throws: ChannelError.outputClosed) { try written.wait() }
        link.client.close()
        try link.run()
        #expect(link.socket.closes == [.output, .all])
    }

    @Test("a client that has ended its direction gets its answer, and then the connection closes")
    func clientCloses() throws {
        let link = try TLSChannel().establish()
        link.client.write(Array("request".utf8))
        link.client.close()
        try link.run()
        #expect(link.program.request == "request")
        #expect(link.program.hasSeenEnd)
        try link.channel.writeOutbound(ByteBuffer(string: "answer"))
        link.channel.close(mode: .output, promise: nil)
        #expect(!link.channel.isActive)
        #expect(link.socket.closes == [.all])
        try link.run()
        #expect(link.response == Array("answer".utf8))
        #expect(link.program.errors.isEmpty)
    }

    @Test("an end without close_notify is an error, as what came may not be all")
    func truncated() throws {
        let link = try TLSChannel().establish()
        link.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(link.program.errors == [.truncated])
        #expect(link.program.hasSeenEnd)
        #expect(link.channel.isActive)
        link.channel.pipeline.fireChannelInactive()
        #expect(link.program.errors == [.truncated])
    }

    @Test("after an end without close_notify a close of our direction waits for the last bytes, and closes both")
    func closeOutputAfterTruncation() throws {
        let link = try TLSChannel().establish()
        link.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        link.socket.isFull = true
        link.channel.write(ByteBuffer(string: "answer"), promise: nil)
        link.channel.close(mode: .output, promise: nil)
        try link.run()
        #expect(link.response == Array("answer".utf8))
        #expect(link.channel.isActive)
        link.socket.drain()
        #expect(link.socket.closes == [.all])
    }

    @Test("an end in the middle of the handshake closes the connection")
    func truncatedHandshake() throws {
        let link = try TLSChannel()
        link.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(link.program.errors == [.truncated])
        #expect(!link.channel.isActive)
    }

    @Test("a connection that breaks is one error, and fails what was not flushed")
    func broken() throws {
        let link = try TLSChannel().establish()
        let written = link.write("answer")
        link.channel.pipeline.fireChannelInactive()
        #expect(link.program.errors == [.truncated])
        #expect(throws: ChannelError.ioOnClosedChannel) { try written.wait() }
    }

    @Test("plain HTTP is one error, and closes the connection")
    func plainHTTP() throws {
        let link = try TLSChannel()
        for _ in 0..<2 { try link.deliver(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: relay\r\n\r\n")) }
        #expect(link.program.errors == [.failed(reason: "http request")])
        #expect(!link.channel.isActive)
    }

    @Test("a changed record is one error, with an alert; what came before it counts")
    func changedRecord() throws {
        let link = try TLSChannel().establish()
        link.client.write(Array("sound".utf8))
        var bytes = link.client.takeOutgoing()
        bytes.writeBytes([23, 3, 3, 0, 32] + [UInt8](repeating: 7, count: 32))
        try link.deliver(bytes)
        #expect(link.program.request == "sound")
        #expect(link.program.errors == [.failed(reason: "decryption failed or bad record mac")])
        #expect(!link.channel.isActive)
        #expect(link.socket.takeSent().contains { $0.readableBytes > 0 })
    }

    @Test("the program may close the connection within a request, and answer after that")
    func closeWithinRead() throws {
        let link = try TLSChannel().establish()
        link.program.onRead = { context in
            context.close(promise: nil)
            context.writeAndFlush(NIOAny(ByteBuffer(string: "late")), promise: nil)
        }
        link.client.write(Array("request".utf8))
        link.client.close()
        try link.run()
        #expect(!link.channel.isActive)
        #expect(link.response.isEmpty)
        #expect(link.program.errors.isEmpty)
    }

    @Test("a client that sends its handshake byte by byte gets no more time than a silent one", arguments: [0, 1])
    func slowHandshake(bytesPerSecond: Int) throws {
        let link = try TLSChannel(last: ReservedConnectionHandler(timeout: .seconds(5)))
        link.client.advance()
        var hello = link.client.takeOutgoing()
        for _ in 0..<5 {
            #expect(link.channel.isActive)
            if let bytes = hello.readSlice(length: bytesPerSecond) { try link.deliver(bytes) }
            link.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        }
        #expect(!link.channel.isActive)
    }

    @Test("changed bytes of a client never yield a request that it did not send")
    func hostileBytes() throws {
        var random = SeededGenerator(seed: 9)
        for round in 0..<200 {
            let link = try TLSChannel()
            if round.isMultiple(of: 2) { try link.run() } else { link.client.advance() }
            link.client.write(Array("request".utf8))
            try link.deliver(ByteBuffer(bytes: random.mutate(Array(link.client.takeOutgoing().readableBytesView))))
            #expect(link.program.request.isEmpty || link.program.request == "request")
            #expect(link.program.errors.count <= 1)
            _ = try link.channel.finish(acceptAlreadyClosed: true)
        }
    }

    @Test(
        "who asks for reads one by one gets the request, though the handshake's reads bring none",
        .timeLimit(.minutes(5)))
    func singleReads() async throws {
        let context = try BareCertificate().makeServerContext()
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        TLSServerHandler(TLSServerConnection(context: context)), SingleReads(),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let answer = try await TLSExchange.answer(to: "request", port: port)
        #expect(answer == "request")
        try await server.close()
    }

    /// Asks for one read, and answers with what it brings.
    private final class SingleReads: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        func channelActive(context: ChannelHandlerContext) { context.read() }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            context.writeAndFlush(data, promise: nil)
            context.close(promise: nil)
        }
    }
}
