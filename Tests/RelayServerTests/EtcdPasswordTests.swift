import Cluster
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing

@testable import RelayServer

/// Logins at an etcd that asks for a password.
@Suite("The password for etcd")
struct EtcdPasswordTests {
    /// Takes requests of those who have said the password of now.
    private final class Guard: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart

        private let password: Password
        private var path = ""
        private var token: String?
        private var body = ""

        init(_ password: Password) { self.password = password }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                path = head.uri
                token = head.headers.first(name: "Authorization")
                body = ""
            case .body(let part): body += String(buffer: part)
            case .end:
                let (status, text) = answer
                let headers = HTTPHeaders([("Content-Length", "\(text.utf8.count)")])
                let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
                let channel = context.channel
                channel.write(HTTPServerResponsePart.head(head), promise: nil)
                channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: text))), promise: nil)
                channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
            }
        }

        private var answer: (HTTPResponseStatus, String) {
            let password = password.text
            let isKnown = token == "token of \(password)"
            switch path {
            case "/v3/auth/authenticate" where body.contains("\"\(password)\""):
                return (.ok, #"{"token":"token of \#(password)"}"#)
            case "/v3/auth/authenticate":
                return (.badRequest, #"{"error":"etcdserver: authentication failed, invalid user ID or password"}"#)
            case "/v3/watch" where isKnown: return (.ok, #"{"result":{"created":true}}"# + "\n")
            case "/v3/watch":
                return (
                    .ok,
                    #"{"result":{"created":true,"canceled":true,"cancel_reason":"etcdserver: invalid auth token"}}"#
                        + "\n"
                )
            default:
                return isKnown
                    ? (.ok, #"{"header":{"revision":"7"}}"#)
                    : (.unauthorized, #"{"error":"etcdserver: invalid auth token"}"#)
            }
        }
    }

    private final class Password: Sendable {
        private let value: Mutex<String>

        init(_ text: String) { value = Mutex(text) }

        var text: String { value.withLock { $0 } }

        func change(to text: String) { value.withLock { $0 = text } }
    }

    private func withClient(
        _ password: Password, file: URL, _ body: (EtcdClient) async throws -> Void
    ) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("\(password.text)\nno password\n".utf8).write(to: file)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Guard(password))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        var settings = EtcdSettings(endpoints: [try #require(EtcdSettings.Endpoint("http://127.0.0.1:\(port)"))])
        (settings.user, settings.passwordFile) = ("relay", file.path)
        let client = try EtcdClient(settings)
        do {
            try await body(client)
        } catch {
            Issue.record(error)
        }
        await client.close()
        try await channel.close()
    }

    private static let read = DirectoryRequest.read(from: "", revision: nil)
    private static let page = DirectoryResponse.page([], revision: 7, hasMore: false)

    private func makeFile() -> URL {
        FileManager.default.temporaryDirectory.appending(path: "confrelay-etcd-\(UUID().uuidString)")
    }

    @Test("is read again for each login, and the one of before is used where the file is gone")
    func changed() async throws {
        let (password, file) = (Password("first"), makeFile())
        try await withClient(password, file: file) { client in
            #expect(await client.perform(Self.read) == Self.page)
            password.change(to: "second")
            #expect(await client.perform(Self.read) != Self.page)
            try Data("second\n".utf8).write(to: file)
            #expect(await client.perform(Self.read) == Self.page)
            password.change(to: "third")
            #expect(await client.perform(Self.read) != Self.page)
            try FileManager.default.removeItem(at: file)
            password.change(to: "second")
            #expect(await client.perform(Self.read) == Self.page)
        }
    }

    @Test("is said again when etcd, which was started again, ends the watch of a token that it does not know")
    func forgottenToken() async throws {
        let (password, file) = (Password("first"), makeFile())
        try await withClient(password, file: file) { client in
            #expect(await client.perform(Self.read) == Self.page)
            password.change(to: "second")
            try Data("second\n".utf8).write(to: file)
            for isKnown in [false, true] {
                let news = Mutex<[DirectoryNews]>([])
                await client.watch(from: 1) { told in news.withLock { $0.append(told) } }
                #expect(news.withLock { $0 }.contains(.began) == isKnown)
            }
        }
    }
}
