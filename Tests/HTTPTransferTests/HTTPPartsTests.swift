import Dispatch
import LoopbackServer
import Testing

@testable import HTTPTransfer

@Suite("Answers in parts")
struct HTTPPartsTests {
    private let client = HTTPClient(connectingWithin: .seconds(600))

    private func open(_ server: LoopbackServer) async throws(HTTPFailure) -> HTTPParts {
        try await client.open(HTTPClient.Request(.post, "http://127.0.0.1:\(server.port)/"), within: .seconds(600))
    }

    private static let start = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test("parts are handed on as they come")
    func parts() async throws {
        let isRead = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.send(Self.start)
            for part in ["one", "two"] {
                isRead.wait()
                connection.send("3\r\n\(part)\r\n")
            }
            isRead.wait()
            connection.send("0\r\n\r\n")
        }
        let parts = try await open(server)
        #expect(parts.head.status == 200 && parts.head.values(of: "transfer-encoding") == ["chunked"])
        for part in ["one", "two"] {
            isRead.signal()
            #expect(try await parts.next() == Array(part.utf8))
        }
        isRead.signal()
        #expect(try await parts.next() == nil)
        #expect(try await parts.next() == nil)
    }

    @Test("an answer that is read slowly is complete, and its server has to wait")
    func slow() async throws {
        let size = 8 << 20
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.answer(200, String(repeating: "a", count: size))
        }
        let parts = try await open(server)
        var (sum, largest) = (0, 0)
        while let part = try await parts.next() {
            (sum, largest) = (sum + part.count, max(largest, part.count))
            await Task.yield()
        }
        #expect(sum == size)
        #expect(largest <= 2 * PartsPipe.capacity)
    }

    @Test("the end of the reading task ends the request")
    func cancelled() async throws {
        let hasEnded = AsyncStream.makeStream(of: Void.self)
        let isRead = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.send("\(Self.start)3\r\none\r\n")
            connection.waitForEnd()
            hasEnded.continuation.finish()
        }
        let reading = Task {
            let parts = try await open(server)
            while try await parts.next() != nil { isRead.continuation.finish() }
        }
        for await _ in isRead.stream {}
        reading.cancel()
        await #expect(throws: HTTPFailure.cancelled) { try await reading.value }
        for await _ in hasEnded.stream {}
    }

    @Test("a request ends whose parts nobody has any more")
    func abandoned() async throws {
        let hasEnded = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.send(Self.start)
            connection.waitForEnd()
            hasEnded.continuation.finish()
        }
        _ = try await open(server)
        for await _ in hasEnded.stream {}
    }

    @Test("the end of the client, and a server that breaks off, are told after what has come")
    func brokenOff() async throws {
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.send("\(Self.start)3\r\none\r\n")
        }
        let parts = try await open(server)
        #expect(try await parts.next() == Array("one".utf8))
        await #expect(throws: HTTPFailure.connectionClosed) { try await parts.next() }
        let hanging = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.send(Self.start)
            connection.waitForEnd()
        }
        let others = try await open(hanging)
        await client.close()
        await #expect(throws: HTTPFailure.clientClosed) { try await others.next() }
    }

    @Test("a head that does not come in time ends the request")
    func late() async throws {
        let server = try LoopbackServer { $0.waitForEnd() }
        await #expect(throws: HTTPFailure.timedOut) {
            try await client.open(
                HTTPClient.Request(.post, "http://127.0.0.1:\(server.port)/"), within: .milliseconds(50))
        }
    }

    @Test("what waits for a reader is bounded")
    func bounded() {
        let pipe = PartsPipe()
        let part = [UInt8](repeating: 1, count: 16 << 10)
        var taken = 0
        while taken < 100, part.withUnsafeBytes({ pipe.append($0) }) { taken += 1 }
        #expect(taken == PartsPipe.capacity / part.count)
        let (bytes, wasPaused, end) = pipe.take()
        #expect(bytes.count == PartsPipe.capacity && wasPaused && end == nil)
        #expect(part.withUnsafeBytes { pipe.append($0) })
        #expect(!pipe.take().wasPaused)
    }
}
