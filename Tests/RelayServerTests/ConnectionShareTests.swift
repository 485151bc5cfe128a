import NIOCore
import RoomMedia
import SecureTransport
import Synchronization
import Testing

@testable import RelayServer

@Suite("Connections to the signalling server")
struct ConnectionShareTests {
    private var configuration: RelayServerConfiguration {
        var configuration = RelayServerConfiguration()
        configuration.maximumConnections = 32
        return configuration
    }

    /// Opens connections that say nothing, and closes them after `body`.
    private func hold(
        _ count: Int, from host: String, to server: RunningServer, _ body: () async throws -> Void
    ) async throws {
        var held: [RunningServer.Connection] = []
        for _ in 0..<count { held.append(try await server.connect(from: host)) }
        try await body()
        for connection in held { try? await connection.channel.close() }
    }

    @Test("a client that keeps opening connections does not prevent others' health checks and joins")
    func greedyClient() async throws {
        try await RunningServer.run(configuration) { server in
            try await hold(200, from: "127.0.0.2", to: server) {
                let health = try await server.get("/healthz")
                #expect(health.hasPrefix("HTTP/1.1 200 OK\r\n"))
                let readiness = try await server.get("/readyz")
                #expect(readiness.hasPrefix("HTTP/1.1 200 OK\r\n"))
                let join = try await server.join()
                #expect(join.hasPrefix("HTTP/1.1 201 Created\r\n"))
            }
        }
    }

    @Test("when all connections are taken, health checks are answered, and other requests learn when to try again")
    func reserve() async throws {
        try await RunningServer.run(configuration) { server in
            // Each address takes half of the free connections.
            try await hold(16, from: "127.0.0.2", to: server) {
                try await hold(8, from: "127.0.0.3", to: server) {
                    try await hold(4, from: "127.0.0.4", to: server) {
                        try await hold(2, from: "127.0.0.5", to: server) {
                            try await hold(2, from: "127.0.0.6", to: server) {
                                try await hold(1, from: "127.0.0.7", to: server) { try await checkReserve(server) }
                            }
                        }
                    }
                }
            }
        }
    }

    private func checkReserve(_ server: RunningServer) async throws {
        for path in ["/healthz", "/readyz", "/metrics"] {
            let answer = try await server.get(path)
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(answer.prefix(80))")
            #expect(answer.lowercased().contains("connection: close\r\n"))
        }
        for answer in [try await server.join(), try await server.get("/rooms")] {
            #expect(answer.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"), "\(answer.prefix(80))")
            #expect(answer.lowercased().contains("retry-after: 10\r\n"))
            #expect(answer.contains("--trusted-proxy"))
        }
        #expect(server.script.state.withLock { $0.requests.isEmpty })
    }

    @Test("a client of HTTP/1.1 that waits before it sends a body is told to go on, or that the body is too large")
    func expectation() async throws {
        func head(of size: Int, _ version: String = "HTTP/1.1") -> ByteBuffer {
            ByteBuffer(
                string: "POST /rooms/demo/participants \(version)\r\nHost: relay\r\nConnection: close\r\n"
                    + "Content-Type: application/sdp\r\nContent-Length: \(size)\r\nExpect: 100-continue\r\n\r\n")
        }
        try await RunningServer.run { server in
            try await server.connect().executeThenClose { inbound, outbound in
                var answers = inbound.makeAsyncIterator()
                try await outbound.write(head(of: 5))
                #expect(try await answers.next().map { String(buffer: $0) } == "HTTP/1.1 100 Continue\r\n\r\n")
                try await outbound.write(ByteBuffer(string: "v=0\r\n"))
                let answer = try #require(try await answers.next())
                #expect(String(buffer: answer).hasPrefix("HTTP/1.1 201 Created\r\n"))
            }
            try await server.connect().executeThenClose { inbound, outbound in
                var answers = inbound.makeAsyncIterator()
                try await outbound.write(head(of: SignallingLimits.avatarSize + 1))
                let answer = try #require(try await answers.next())
                #expect(String(buffer: answer).hasPrefix("HTTP/1.1 413 "))
            }
            let old = try await server.exchange(String(buffer: head(of: 5, "HTTP/1.0")) + "v=0\r\n")
            #expect(old.hasPrefix("HTTP/1.0 201 "), "they know no interim answers")
        }
    }

    @Test("a trusted proxy may hold more than half of the connections")
    func trustedProxy() async throws {
        var configuration = configuration
        configuration.trustedProxies = [try #require(NetworkPrefix(parsing: "127.0.0.2"))]
        try await RunningServer.run(configuration) { server in
            try await hold(31, from: "127.0.0.2", to: server) {
                let rooms = try await server.get("/rooms", from: "127.0.0.2")
                #expect(rooms.hasPrefix("HTTP/1.1 200 OK\r\n"))
            }
        }
    }
}
