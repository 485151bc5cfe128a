import Foundation
import LoopbackServer
import OpenSSLClient
import Synchronization
import Testing

@testable import HTTPTransfer

/// Requests to servers on this machine, most of which do not do as they should.
@Suite("The HTTP client")
struct HTTPClientTests {
    private static let patience = Duration.seconds(600)
    private static let shortTime = Duration.milliseconds(50)

    private func makeClient(_ tls: HTTPClient.TLS = HTTPClient.TLS()) -> HTTPClient {
        HTTPClient(connectingWithin: Self.patience, tls: tls)
    }

    private func get(
        from server: LoopbackServer, path: String = "/", within time: Duration = patience, upTo longest: Int = 1000
    ) async throws(HTTPFailure) -> HTTPClient.Answer {
        try await makeClient().perform(
            HTTPClient.Request(.get, "http://127.0.0.1:\(server.port)\(path)"), within: time, upTo: longest)
    }

    private static func request(
        to url: String, change: (inout HTTPClient.Request) -> Void
    ) -> HTTPClient.Request {
        var request = HTTPClient.Request(.get, url)
        change(&request)
        return request
    }

    @Test("each request fails, with the reason, where libcurl cannot be used")
    func noLibrary() async throws {
        let client = HTTPClient(connectingWithin: Self.patience, tls: HTTPClient.TLS(), driver: nil)
        let request = HTTPClient.Request(.get, "http://127.0.0.1:9/")
        let reason = HTTPFailure.failed("libcurl cannot be used: it has no memory, or cannot start its TLS library")
        await #expect(throws: reason) { try await client.perform(request, within: Self.patience, upTo: 0) }
        await #expect(throws: reason) { _ = try await client.open(request, within: Self.patience) }
        #expect(throws: reason) { try client.performAndWait(request, within: Self.patience, upTo: 0) }
        await client.close()
    }

    // MARK: Requests and answers

    @Test("an answer comes with its status, fields and body")
    func answer() async throws {
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.answer(404, "nothing here", fields: "Link: a\r\nlink:  b \r\n")
        }
        let answer = try await get(from: server)
        #expect(answer.status == 404 && !answer.isSuccess)
        #expect(answer.head.values(of: "LINK") == ["a", "b"])
        #expect(answer.body == Array("nothing here".utf8))
    }

    @Test("a request has what it was given, and nothing that libcurl would add")
    func request() async throws {
        let heard = Mutex<[LoopbackConnection.Request]>([])
        let server = try LoopbackServer { connection in
            while let request = connection.readRequest() {
                heard.withLock { $0.append(request) }
                connection.answer()
            }
        }
        let client = makeClient()
        var request = HTTPClient.Request(.post, "http://127.0.0.1:\(server.port)/a/../b?c=%2F")
        request.add("Content-Type", "text/plain")
        request.add("Relay-Empty", "")
        request.body = Array("hello".utf8)
        #expect(try await client.perform(request, within: Self.patience, upTo: 0).status == 200)
        request.method = .put
        request.fields = []
        request.body = []
        #expect(try await client.status(of: request, within: Self.patience) == 200)
        let host = "Host: 127.0.0.1:\(server.port)\r\n"
        let (first, second) = heard.withLock { ($0.first, $0.last) }
        #expect(
            first?.head == "POST /a/../b?c=%2F HTTP/1.1\r\n\(host)Content-Type: text/plain\r\nRelay-Empty:\r\n"
                + "Content-Length: 5\r\n")
        #expect(first?.body == "hello")
        #expect(second?.head == "PUT /a/../b?c=%2F HTTP/1.1\r\n\(host)Content-Length: 0\r\n")
    }

    @Test("a large body is sent without asking first")
    func largeBody() async throws {
        let server = try LoopbackServer { connection in
            guard let request = connection.readRequest() else { return }
            connection.answer(request.head.contains("Expect") ? 417 : 200, "\(request.body.utf8.count)")
        }
        var request = HTTPClient.Request(.post, "http://127.0.0.1:\(server.port)/")
        request.body = [UInt8](repeating: 0x61, count: 3 << 20)
        let answer = try await makeClient().perform(request, within: Self.patience, upTo: 100)
        #expect(answer.status == 200 && answer.body == Array("\(3 << 20)".utf8))
    }

    @Test("a redirection is an answer, and nothing follows it")
    func redirection() async throws {
        let count = Atomic(0)
        let server = try LoopbackServer { connection in
            while connection.readRequest() != nil {
                count.add(1, ordering: .relaxed)
                connection.answer(302, fields: "Location: /elsewhere\r\n")
            }
        }
        let answer = try await get(from: server)
        #expect(answer.status == 302 && answer.head.values(of: "location") == ["/elsewhere"])
        #expect(count.load(ordering: .relaxed) == 1)
    }

    @Test("a request with an address goes there, whatever the name in its URL leads to")
    func pinnedAddress() async throws {
        let server = try LoopbackServer { connection in
            guard let request = connection.readRequest() else { return }
            connection.answer(200, request.head.contains("Host: films.invalid:") ? "named" : request.head)
        }
        let request = Self.request(to: "http://films.invalid:\(server.port)/") { $0.address = "127.0.0.1" }
        let answer = try await makeClient().perform(request, within: Self.patience, upTo: 1000)
        #expect(answer.body == Array("named".utf8))
    }

    @Test("the environment's proxy is none of ours")
    func proxy() async throws {
        await #expect(processExitsWith: .success) {
            for name in ["http_proxy", "HTTP_PROXY", "all_proxy"] { setenv(name, "http://127.0.0.1:1", 1) }
            let server = try LoopbackServer { connection in
                _ = connection.readRequest()
                connection.answer()
            }
            let client = HTTPClient(connectingWithin: .seconds(600))
            let request = HTTPClient.Request(.get, "http://127.0.0.1:\(server.port)/")
            exit(try await client.status(of: request, within: .seconds(600)) == 200 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test("a thread can wait for an answer")
    func waiting() throws {
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.answer(200, "here")
        }
        let request = HTTPClient.Request(.get, "http://127.0.0.1:\(server.port)/")
        #expect(
            try makeClient().performAndWait(request, within: Self.patience, upTo: 4).body == Array("here".utf8))
    }

    @Test("a request that changes a thing is not sent again where a kept connection turns out to be closed")
    func once() async throws {
        let posts = Atomic(0)
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.answer()
            guard connection.readRequest() != nil else { return }
            posts.add(1, ordering: .relaxed)
        }
        let client = makeClient()
        let url = "http://127.0.0.1:\(server.port)/"
        #expect(try await client.status(of: HTTPClient.Request(.get, url), within: Self.patience) == 200)
        await #expect(throws: HTTPFailure.connectionClosed) {
            try await client.status(of: HTTPClient.Request(.post, url), within: Self.patience)
        }
        #expect(posts.load(ordering: .relaxed) == 1)
    }

    @Test(
        "what is no request of HTTP is not sent",
        arguments: [
            "", "ftp://127.0.0.1/", "file:///etc/passwd", "http://", "http://a b/", "http://a/\r\nB: c", "//a/",
            "http://127.0.0.1:99999/",
        ])
    func refusedURL(url: String) async {
        await #expect(throws: HTTPFailure.self) {
            try await makeClient().status(of: HTTPClient.Request(.get, url), within: Self.patience)
        }
    }

    @Test("a field cannot bring others", arguments: [("A", "b\r\nC: d"), ("A\r\nB", "c"), ("", "a"), ("A b", "c")])
    func refusedField(name: String, value: String) async {
        let request = Self.request(to: "http://127.0.0.1:1/") { $0.add(name, value) }
        await #expect(throws: HTTPFailure.failed("a field of the request has bytes that HTTP does not permit")) {
            try await makeClient().status(of: request, within: Self.patience)
        }
    }

    // MARK: Servers that fail

    @Test(
        "a body that is longer than it may be ends the request",
        arguments: [
            "Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            "Connection: close\r\n\r\nhello",
        ])
    func tooLong(rest: String) async throws {
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\n\(rest)")
        }
        #expect(try await get(from: server, upTo: 5).body == Array("hello".utf8))
        await #expect(throws: HTTPFailure.answerTooLong) { try await get(from: server, upTo: 4) }
    }

    @Test(
        "a server that closes the connection before its answer's end has not answered",
        arguments: [
            "", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        ])
    func closing(start: String) async throws {
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.send(start)
        }
        await #expect(throws: HTTPFailure.connectionClosed) { try await get(from: server) }
    }

    @Test("a status is known, whatever becomes of the body")
    func statusAlone() async throws {
        let server = try LoopbackServer { connection in
            let isLong = connection.readRequest()?.path == "/long"
            connection.send("HTTP/1.1 201 Made\r\nContent-Length: 9999999999\r\n\r\n")
            while isLong, connection.send(String(repeating: "a", count: 10_000)) {}
        }
        for path in ["/cut", "/long"] {
            let request = HTTPClient.Request(.post, "http://127.0.0.1:\(server.port)\(path)")
            #expect(try await makeClient().status(of: request, within: Self.patience) == 201)
        }
    }

    @Test("a refused connection is told as the system does")
    func refused() async throws {
        try await LoopbackServer.withUnusedPort { port in
            let request = HTTPClient.Request(.get, "http://127.0.0.1:\(port)/")
            await #expect(throws: HTTPFailure.notConnected(code: ECONNREFUSED)) {
                try await makeClient().status(of: request, within: Self.patience)
            }
        }
    }

    @Test("a server that does not answer in time is given up", arguments: ["", "HTTP/1.1 200 OK\r\n\r\nhello"])
    func late(start: String) async throws {
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.send(start)
            connection.waitForEnd()
        }
        await #expect(throws: HTTPFailure.timedOut) { try await get(from: server, within: Self.shortTime) }
    }

    @Test("a client has eight requests under way to a server, and others do not wait for them")
    func lanes() async throws {
        let (arrivals, arrived) = AsyncStream.makeStream(of: String.self)
        let server = try LoopbackServer { connection in
            guard let request = connection.readRequest() else { return }
            arrived.yield(request.path)
            if request.path == "/hang" { connection.waitForEnd() } else { connection.answer() }
        }
        let client = makeClient()
        func status(_ path: String, within time: Duration = Self.patience) async throws(HTTPFailure) -> Int {
            try await client.status(
                of: HTTPClient.Request(.get, "http://127.0.0.1:\(server.port)\(path)"), within: time)
        }
        let hanging = (0..<8).map { _ in Task { try await status("/hang") } }
        var paths = arrivals.makeAsyncIterator()
        for _ in hanging { #expect(await paths.next() == "/hang") }
        await #expect(throws: HTTPFailure.timedOut) { try await status("/late", within: Self.shortTime) }
        async let waiting = status("/waiting")
        #expect(try await get(from: server, path: "/other").status == 200)
        #expect(await paths.next() == "/other")
        hanging[0].cancel()
        #expect(try await waiting == 200)
        #expect(await paths.next() == "/waiting")
        for task in hanging { task.cancel() }
    }

    @Test("a server that hangs does not delay requests to others")
    func hanging() async throws {
        let hasCome = AsyncStream.makeStream(of: Void.self)
        let hanging = try LoopbackServer { connection in
            _ = connection.readRequest()
            hasCome.continuation.finish()
            connection.waitForEnd()
        }
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.answer()
        }
        let waiting = Task { try await get(from: hanging) }
        for await _ in hasCome.stream {}
        #expect(try await get(from: server).status == 200)
        waiting.cancel()
        await #expect(throws: HTTPFailure.cancelled) { try await waiting.value }
    }

    enum Hostility: String, CaseIterable {
        case negativeLength, noHead, noStatus, manyFields, manyHeads, longField

        var answer: String {
            switch self {
            case .negativeLength: "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello"
            case .noHead: "hello\r\n\r\n"
            case .noStatus: "HTTP/1.1 x OK\r\n\r\n"
            case .manyFields: "HTTP/1.1 200 OK\r\n" + String(repeating: "Name: value\r\n", count: 100_000)
            case .manyHeads: String(repeating: "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n", count: 50_000)
            case .longField: "HTTP/1.1 200 OK\r\nA: \(String(repeating: "b", count: 1 << 20))\r\n\r\n"
            }
        }
    }

    @Test("a hostile answer ends the request", arguments: Hostility.allCases)
    func hostile(_ hostility: Hostility) async throws {
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.send(hostility.answer)
            connection.waitForEnd()
        }
        let failure = await #expect(throws: HTTPFailure.self) { try await get(from: server) }
        #expect(failure != .timedOut)
    }

    // MARK: Ends

    @Test("the end of a client ends its requests, and no others'")
    func end() async throws {
        let hasCome = AsyncStream.makeStream(of: Void.self)
        let hanging = try LoopbackServer { connection in
            _ = connection.readRequest()
            hasCome.continuation.finish()
            connection.waitForEnd()
        }
        let client = makeClient()
        let request = HTTPClient.Request(.get, "http://127.0.0.1:\(hanging.port)/")
        let ended = Task { try await client.status(of: request, within: Self.patience) }
        for await _ in hasCome.stream {}
        await client.close()
        await #expect(throws: HTTPFailure.clientClosed) { try await ended.value }
        await #expect(throws: HTTPFailure.clientClosed) {
            try await client.status(of: request, within: Self.patience)
        }
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.answer()
        }
        #expect(try await get(from: server).status == 200)
    }

    @Test("a request of a task that is cancelled already ends")
    func cancelledBefore() async throws {
        let server = try LoopbackServer { $0.waitForEnd() }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await get(from: server)
        }
        await #expect(throws: HTTPFailure.cancelled) { try await task.value }
    }

    // MARK: TLS

    @Test("a server is trusted whose certificate is among those that are given, and no other")
    func trust() async throws {
        let own = try BareCertificate(isOfLoopback: true)
        let server = try LoopbackServer(own) { connection in
            _ = connection.readRequest()
            connection.answer()
        }
        let request = HTTPClient.Request(.get, "https://127.0.0.1:\(server.port)/")
        func status(_ tls: HTTPClient.TLS) async throws -> Int {
            try await makeClient(tls).status(of: request, within: Self.patience)
        }
        #expect(try await status(.init(trusted: own.certificateText)) == 200)
        let other = try BareCertificate(isOfLoopback: true)
        for tls in [HTTPClient.TLS(trusted: other.certificateText), .init()] {
            let failure = await #expect(throws: HTTPFailure.self) { try await status(tls) }
            #expect(failure?.description.contains("certificate") == true)
        }
    }

    @Test("a server's certificate must be that of the host")
    func wrongHost() async throws {
        let own = try BareCertificate(isOfLoopback: true)
        let server = try LoopbackServer(own) { connection in
            _ = connection.readRequest()
            connection.answer()
        }
        let request = Self.request(to: "https://films.invalid:\(server.port)/") { $0.address = "127.0.0.1" }
        let client = makeClient(.init(trusted: own.certificateText))
        await #expect(throws: HTTPFailure.self) {
            try await client.status(of: request, within: Self.patience)
        }
    }
}
