import Cluster
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization
import Testing

@testable import RelayServer

/// Requests to a cluster's etcd, some members of which fail.
@Suite("The client of etcd")
struct EtcdClientTests {
    private final class Count: Sendable {
        private let count = Mutex(0)

        var value: Int { count.withLock { $0 } }

        func add() { count.withLock { $0 += 1 } }
    }

    /// Answers every request alike.
    private final class Answers: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart

        private let status: HTTPResponseStatus
        private let body: String
        private let requests: Count

        init(_ status: HTTPResponseStatus, _ body: String, requests: Count) {
            self.status = status
            self.body = body
            self.requests = requests
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            requests.add()
            let headers = HTTPHeaders([("Content-Length", "\(body.utf8.count)")])
            let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
            let channel = context.channel
            channel.write(HTTPServerResponsePart.head(head), promise: nil)
            channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: body))), promise: nil)
            channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
        }
    }

    /// A member of etcd, as far as the client knows it.
    private struct Member {
        let channel: any Channel
        let endpoint: EtcdSettings.Endpoint
        let requests: Count

        /// - Parameter context: Nil: the member speaks no TLS.
        init(_ status: HTTPResponseStatus, _ body: String, context: NIOSSLContext? = nil) async throws {
            let requests = Count()
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        if let context {
                            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                        }
                        try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                        try channel.pipeline.syncOperations.addHandler(Answers(status, body, requests: requests))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            self.channel = channel
            self.requests = requests
            let address = "127.0.0.1:\(channel.localAddress?.port ?? 0)"
            endpoint = try #require(EtcdSettings.Endpoint("\(context == nil ? "http" : "https")://\(address)"))
        }
    }

    private static let noLeader = #"{"error":"etcdserver: no leader","code":14}"#
    private static let emptyPage = #"{"header":{"revision":"7"}}"#
    private static let read = DirectoryRequest.read(from: "", revision: nil)

    private func withClient(
        _ first: Member, _ second: Member, _ body: (EtcdClient) async throws -> Void
    ) async throws {
        let client = try EtcdClient(EtcdSettings(endpoints: [first.endpoint, second.endpoint]))
        do {
            try await body(client)
        } catch {
            Issue.record(error)
        }
        await client.close()
        try await first.channel.close()
        try await second.channel.close()
    }

    @Test("an endpoint that fails is left for the next one", arguments: [500, 502, 503, 504])
    func failing(status: Int) async throws {
        let failing = try await Member(HTTPResponseStatus(statusCode: status), Self.noLeader)
        try await withClient(failing, Member(.ok, Self.emptyPage)) { client in
            #expect(await client.perform(Self.read) == .failed(reason: "etcd fails: etcdserver: no leader"))
            #expect(await client.perform(Self.read) == .page([], revision: 7, hasMore: false))
            #expect(failing.requests.value == 1)
        }
    }

    @Test("an endpoint at which several requests fail at once is left once")
    func together() async throws {
        try await withClient(Member(.serviceUnavailable, Self.noLeader), Member(.ok, Self.emptyPage)) { client in
            async let one = client.perform(Self.read)
            async let other = client.perform(Self.read)
            _ = await (one, other)
            #expect(await client.perform(Self.read) == .page([], revision: 7, hasMore: false))
        }
    }

    @Test("an endpoint whose watch fails is left for the next one")
    func watch() async throws {
        try await withClient(Member(.serviceUnavailable, Self.noLeader), Member(.ok, Self.emptyPage)) { client in
            await client.watch(from: 1) { _ in }
            #expect(await client.perform(Self.read) == .page([], revision: 7, hasMore: false))
        }
    }

    @Test(
        "an endpoint whose watch fails after it has begun is left for the next one",
        arguments: [#""grpc_code":14,"http_code":503"#, #""code":14,"details":[]"#])
    func watchThatBegan(code: String) async throws {
        let watch =
            #"{"result":{"header":{"revision":"7"},"created":true}}"# + "\n"
            + #"{"error":{"message":"etcdserver: no leader","# + code + "}}\n"
        let news = Mutex<[DirectoryNews]>([])
        try await withClient(Member(.ok, watch), Member(.ok, Self.emptyPage)) { client in
            await client.watch(from: 1) { told in news.withLock { $0.append(told) } }
            #expect(news.withLock { $0 } == [.began, .ended(isIncomplete: false)])
            #expect(await client.perform(Self.read) == .page([], revision: 7, hasMore: false))
        }
    }

    @Test("an endpoint that refuses a request is kept: others would refuse it, too")
    func refusing() async throws {
        let other = try await Member(.ok, Self.emptyPage)
        try await withClient(Member(.badRequest, #"{"error":"etcdserver: key is not provided"}"#), other) { client in
            let refusal = DirectoryResponse.failed(reason: "etcd refuses: etcdserver: key is not provided")
            for _ in 0..<2 { #expect(await client.perform(Self.read) == refusal) }
            #expect(other.requests.value == 0)
        }
    }

    @Test("the files of TLS hold once they are read again; where they cannot be used, the earlier ones stay")
    func readingAgain() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "confrelay-etcd-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(TestCertificate.expiredCertificate.utf8).write(to: file)
        let certificates = try NIOSSLCertificate.fromPEMBytes(Array(TestCertificate.certificate.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(TestCertificate.key.utf8), format: .pem)
        let context = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key)))
        let member = try await Member(.ok, Self.emptyPage, context: context)
        var settings = EtcdSettings(endpoints: [member.endpoint])
        settings.trustedCertificates = file.path
        let client = try EtcdClient(settings)
        let page = DirectoryResponse.page([], revision: 7, hasMore: false)
        do {
            #expect(await client.perform(Self.read) != page)
            try Data(TestCertificate.certificate.utf8).write(to: file)
            try await client.readFilesAgain()
            #expect(await client.perform(Self.read) == page)
            try Data("hello\n".utf8).write(to: file)
            await #expect(throws: StartupError.self) { try await client.readFilesAgain() }
            #expect(await client.perform(Self.read) == page)
        } catch {
            Issue.record(error)
        }
        await client.close()
        try await member.channel.close()
    }
}
