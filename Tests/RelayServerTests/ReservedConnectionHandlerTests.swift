import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import RelayServer

@Suite("A connection from the reserve")
struct ReservedConnectionHandlerTests {
    private func makeChannel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: ReservedConnectionHandler(timeout: .seconds(5)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private func head(_ path: String, _ method: HTTPRequest.Method = .get) -> HTTPRequestPart {
        .head(HTTPRequest(method: method, scheme: "http", authority: "relay", path: path))
    }

    @Test("it ends after its time, whatever happens on the connection", arguments: [nil, "/healthz", "/rooms"])
    func deadline(path: String?) throws {
        let channel = try makeChannel()
        if let path { try channel.writeInbound(head(path)) }
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(4999))
        // A refusal closes it at once.
        #expect(channel.isActive || path == "/rooms")
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
    }

    @Test("health checks are passed to the router", arguments: ["/healthz", "/readyz", "/metrics", "/metrics?x=1"])
    func healthChecks(path: String) throws {
        let channel = try makeChannel()
        try channel.writeInbound(head(path))
        #expect(try channel.readInbound(as: HTTPRequestPart.self) == head(path))
    }

    @Test(
        "other requests do not, and are answered 503",
        arguments: [("/", HTTPRequest.Method.get), ("/healthz", .post), ("/healthz/x", .get), ("/rooms", .head)])
    func otherRequests(path: String, method: HTTPRequest.Method) throws {
        let channel = try makeChannel()
        try channel.writeInbound(head(path, method))
        try channel.writeInbound(HTTPRequestPart.end(nil))
        #expect(try channel.readInbound(as: HTTPRequestPart.self) == nil)
        guard case .head(let response) = try channel.readOutbound(as: HTTPResponsePart.self) else {
            Issue.record("there is no answer")
            return
        }
        #expect(response.status == .serviceUnavailable)
    }

    @Test("a second request on it is not answered")
    func secondRequest() throws {
        let channel = try makeChannel()
        for _ in 0..<2 {
            try channel.writeInbound(head("/rooms"))
            try channel.writeInbound(HTTPRequestPart.end(nil))
        }
        var heads = 0
        while let part = try channel.readOutbound(as: HTTPResponsePart.self) {
            if case .head = part { heads += 1 }
        }
        #expect(heads == 1)
    }
}
