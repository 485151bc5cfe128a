import Cluster
import Dispatch
import Foundation
import LoopbackServer
import OpenSSLClient
import Synchronization
import Testing

@testable import RelayServer

/// Requests to a cluster's etcd, some members of which fail.
@Suite("The client of etcd")
struct EtcdClientTests {
    /// A member of etcd, as far as the client knows it: it answers every request alike.
    private final class Member: Sendable {
        let endpoint: EtcdSettings.Endpoint
        private let server: LoopbackServer
        private let requests: Requests

        private final class Requests: Sendable {
            let count = Atomic(0)
        }

        /// - Parameter certificate: Nil: the member speaks no TLS.
        init(_ status: Int, _ body: String, certificate: BareCertificate? = nil) throws {
            let requests = Requests()
            self.requests = requests
            server = try LoopbackServer(certificate) { connection in
                while connection.readRequest() != nil {
                    requests.count.add(1, ordering: .relaxed)
                    connection.answer(status, body)
                }
            }
            let scheme = certificate == nil ? "http" : "https"
            endpoint = try #require(EtcdSettings.Endpoint("\(scheme)://127.0.0.1:\(server.port)"))
        }

        var requestCount: Int { requests.count.load(ordering: .relaxed) }
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
    }

    @Test("an endpoint that fails is left for the next one", arguments: [500, 502, 503, 504])
    func failing(status: Int) async throws {
        let failing = try Member(status, Self.noLeader)
        try await withClient(failing, Member(200, Self.emptyPage)) { client in
            #expect(await client.perform(Self.read) == .failed(reason: "etcd fails: etcdserver: no leader"))
            #expect(await client.perform(Self.read) == .page([], revision: 7, hasMore: false))
            #expect(failing.requestCount == 1)
        }
    }

    @Test("an endpoint at which several requests fail at once is left once")
    func together() async throws {
        try await withClient(Member(503, Self.noLeader), Member(200, Self.emptyPage)) { client in
            async let one = client.perform(Self.read)
            async let other = client.perform(Self.read)
            _ = await (one, other)
            #expect(await client.perform(Self.read) == .page([], revision: 7, hasMore: false))
        }
    }

    @Test("an endpoint whose watch fails is left for the next one")
    func watch() async throws {
        try await withClient(Member(503, Self.noLeader), Member(200, Self.emptyPage)) { client in
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
        try await withClient(Member(200, watch), Member(200, Self.emptyPage)) { client in
            await client.watch(from: 1) { told in news.withLock { $0.append(told) } }
            #expect(news.withLock { $0 } == [.began, .ended(isIncomplete: false)])
            #expect(await client.perform(Self.read) == .page([], revision: 7, hasMore: false))
        }
    }

    @Test("an endpoint that refuses a request is kept: others would refuse it, too")
    func refusing() async throws {
        let other = try Member(200, Self.emptyPage)
        try await withClient(Member(400, #"{"error":"etcdserver: key is not provided"}"#), other) { client in
            let refusal = DirectoryResponse.failed(reason: "etcd refuses: etcdserver: key is not provided")
            for _ in 0..<2 { #expect(await client.perform(Self.read) == refusal) }
            #expect(other.requestCount == 0)
        }
    }

    @Test("a lease is renewed although etcd leaves other requests without an answer", .timeLimit(.minutes(1)))
    func renewalBesideOthers() async throws {
        // As many as the client has under way at once.
        let count = 8
        let (waiting, announce) = AsyncStream.makeStream(of: Void.self)
        let isRenewed = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { connection in
            while let request = connection.readRequest() {
                guard request.path.hasSuffix("/lease/keepalive") else {
                    announce.yield()
                    isRenewed.wait()
                    connection.answer(200, Self.emptyPage)
                    continue
                }
                connection.answer(200, #"{"result":{"ID":"7","TTL":"5"}}"#)
                for _ in 0..<count { isRenewed.signal() }
            }
        }
        let endpoint = try #require(EtcdSettings.Endpoint("http://127.0.0.1:\(server.port)"))
        let client = try EtcdClient(EtcdSettings(endpoints: [endpoint]), timeout: .seconds(30))
        let others = (0..<count).map { _ in Task { await client.perform(Self.read) } }
        for await _ in waiting.prefix(count) {}
        let lease = LeaseID(rawValue: 7)
        #expect(await client.perform(.renewLease(lease)) == .lease(lease, timeToLive: .seconds(5)))
        for other in others { #expect(await other.value == .page([], revision: 7, hasMore: false)) }
        await client.close()
    }

    @Test(
        "a token that another request has got stays when one is refused for the token of before",
        .timeLimit(.minutes(1)))
    func refusedTogether() async throws {
        let (arrived, arrive) = AsyncStream.makeStream(of: Void.self)
        let isAnswered = DispatchSemaphore(value: 0)
        let logins = Mutex(0)
        let server = try LoopbackServer { connection in
            while let request = connection.readRequest() {
                if request.path.hasSuffix("/authenticate") {
                    let number = logins.withLock { count in
                        count += 1
                        return count
                    }
                    connection.answer(200, #"{"token":"token \#(number)"}"#)
                } else if request.head.contains("token 1\r\n") {
                    if request.path.hasSuffix("/keepalive") {
                        arrive.yield()
                        isAnswered.wait()
                    }
                    connection.answer(401, #"{"error":"etcdserver: invalid auth token"}"#)
                } else {
                    connection.answer(200, #"{"header":{"revision":"7"},"result":{"ID":"7","TTL":"5"}}"#)
                }
            }
        }
        let endpoint = try #require(EtcdSettings.Endpoint("http://127.0.0.1:\(server.port)"))
        var settings = EtcdSettings(endpoints: [endpoint])
        settings.user = "relay"
        let client = try EtcdClient(settings, timeout: .seconds(30))
        let lease = LeaseID(rawValue: 7)
        let renewal = Task { await client.perform(.renewLease(lease)) }
        for await _ in arrived.prefix(1) {}
        #expect(await client.perform(Self.read) == .page([], revision: 7, hasMore: false))
        isAnswered.signal()
        #expect(await renewal.value == .lease(lease, timeToLive: .seconds(5)))
        #expect(logins.withLock { $0 } == 2)
        await client.close()
    }

    private func withFiles(_ body: (_ settings: inout EtcdSettings, URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "confrelay-etcd-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = EtcdSettings(endpoints: [])
        try await body(&settings, folder)
    }

    @Test("the files of TLS hold once they are read again; where they cannot be used, the earlier ones stay")
    func readingAgain() async throws {
        let (own, other) = (try BareCertificate(isOfLoopback: true), try BareCertificate(isOfLoopback: true))
        let member = try Member(200, Self.emptyPage, certificate: own)
        try await withFiles { settings, folder in
            let file = folder.appending(path: "ca.pem")
            try Data(other.certificateText).write(to: file)
            settings.endpoints = [member.endpoint]
            settings.trustedCertificates = file.path
            let client = try EtcdClient(settings)
            let page = DirectoryResponse.page([], revision: 7, hasMore: false)
            #expect(await client.perform(Self.read) != page)
            try Data(own.certificateText).write(to: file)
            try await client.readFilesAgain()
            #expect(await client.perform(Self.read) == page)
            try Data("hello\n".utf8).write(to: file)
            await #expect(throws: StartupError.self) { try await client.readFilesAgain() }
            #expect(await client.perform(Self.read) == page)
            await client.close()
        }
    }

    @Test("other files of TLS end the watch that was made with the earlier ones")
    func watchWithEarlierFiles() async throws {
        let own = try BareCertificate(isOfLoopback: true)
        let server = try LoopbackServer(own) { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            connection.send(#"{"result":{"header":{"revision":"7"},"created":true}}"# + "\n")
            connection.waitForEnd()
        }
        try await withFiles { settings, folder in
            let file = folder.appending(path: "ca.pem")
            try Data(own.certificateText).write(to: file)
            settings.endpoints = [try #require(EtcdSettings.Endpoint("https://127.0.0.1:\(server.port)"))]
            settings.trustedCertificates = file.path
            let client = try EtcdClient(settings)
            let (news, tell) = AsyncStream.makeStream(of: DirectoryNews.self)
            let watch = Task { await client.watch(from: 1) { tell.yield($0) } }
            var told = news.makeAsyncIterator()
            #expect(await told.next() == .began)
            try await client.readFilesAgain()
            try Data(BareCertificate().certificateText).write(to: file)
            try await client.readFilesAgain()
            #expect(await told.next() == .ended(isIncomplete: false))
            await watch.value
            await client.close()
        }
    }

    @Test("files of TLS that cannot be used are named, with the reason")
    func unusableFiles() async throws {
        try await withFiles { settings, folder in
            let own = try BareCertificate()
            func write(_ name: String, _ text: [UInt8]) throws -> String {
                let file = folder.appending(path: name)
                try Data(text).write(to: file)
                return file.path
            }
            func reason(_ settings: EtcdSettings) -> String {
                do throws(StartupError) {
                    _ = try settings.readTLSFiles()
                    return ""
                } catch {
                    return error.description
                }
            }
            settings.certificate = try write("one.pem", own.certificateText)
            settings.key = try write("other.key", BareCertificate().keyText)
            #expect(reason(settings).contains("other.key: it is not the key of the certificate"))
            settings.key = folder.appending(path: "none.key").path
            #expect(reason(settings).contains("none.key: it cannot be read"))
            settings.key = try write("one.key", own.keyText)
            #expect(reason(settings).isEmpty)
            settings.trustedCertificates = settings.key
            #expect(reason(settings).contains("one.key: it holds no certificate"))
        }
    }
}
