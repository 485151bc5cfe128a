import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import RelayServer

@Suite("The deadline of requests")
struct RequestDeadlineHandlerTests {
    private func makeChannel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: RequestDeadlineHandler(timeout: .seconds(15)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private let head = HTTPRequestPart.head(
        HTTPRequest(method: .get, scheme: "http", authority: "relay", path: "/"))

    private func respond(_ channel: EmbeddedChannel) throws {
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    @Test("a request that is not complete in time ends the connection, answered or not", arguments: [false, true])
    func incompleteRequest(isAnswered: Bool) throws {
        let channel = try makeChannel()
        try channel.writeInbound(head)
        if isAnswered { try respond(channel) }
        for _ in 0..<14 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "x")))
            #expect(channel.isActive)
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("an answered request leaves the connection open")
    func answeredRequest() throws {
        let channel = try makeChannel()
        try channel.writeInbound(head)
        try channel.writeInbound(HTTPRequestPart.end(nil))
        try respond(channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test("a request that ends after its answer leaves the connection open")
    func lateEnd() throws {
        let channel = try makeChannel()
        try channel.writeInbound(head)
        try respond(channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        try channel.writeInbound(HTTPRequestPart.end(nil))
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test("each of several requests in a row has its own time")
    func pipelinedRequests() throws {
        let channel = try makeChannel()
        for _ in 0..<2 {
            try channel.writeInbound(head)
            try channel.writeInbound(HTTPRequestPart.end(nil))
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        try respond(channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(14))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("a long answer has its time for each of its parts, and ends the connection if one is not taken")
    func longAnswer() throws {
        let channel = try makeChannel()
        try channel.writeInbound(head)
        try channel.writeInbound(HTTPRequestPart.end(nil))
        try channel.writeOutbound(
            HTTPResponsePart.head(HTTPResponse(status: .ok, headerFields: [.contentType: "video/mp4"])))
        for _ in 0..<10 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(14))
            try channel.writeOutbound(HTTPResponsePart.body(ByteBuffer(string: "film")))
        }
        #expect(channel.isActive)
        channel.write(HTTPResponsePart.body(ByteBuffer(string: "film")), promise: nil)
        channel.embeddedEventLoop.advanceTime(by: .seconds(15))
        #expect(!channel.isActive)
    }

    private func startStream(_ channel: EmbeddedChannel) throws {
        try channel.writeInbound(head)
        try channel.writeInbound(HTTPRequestPart.end(nil))
        try channel.writeOutbound(
            HTTPResponsePart.head(HTTPResponse(status: .ok, headerFields: [.contentType: "text/event-stream"])))
    }

    @Test("a stream of events has no end, and needs none as long as it is read")
    func readStream() throws {
        let channel = try makeChannel()
        try startStream(channel)
        for _ in 0..<10 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(30))
            try channel.writeOutbound(HTTPResponsePart.body(ByteBuffer(string: ":\n\n")))
        }
        #expect(channel.isActive)
        try channel.writeOutbound(HTTPResponsePart.end(nil))
        try channel.writeInbound(head)
        channel.embeddedEventLoop.advanceTime(by: .seconds(15))
        #expect(!channel.isActive)
    }

    @Test("a stream whose parts are not taken in time ends the connection")
    func stuckStream() throws {
        let channel = try makeChannel()
        try startStream(channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        // Without a flush nothing reaches the client.
        for _ in 0..<14 {
            channel.write(HTTPResponsePart.body(ByteBuffer(string: ":\n\n")), promise: nil)
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }
}
