import HTTPTypes
import Logging
import NIOCore
import NIOPosix
import SecureTransport
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer

@Suite("The administration address")
struct AdministrationTests {
    private static let paths = [
        "/metrics", "/rooms", "/rooms/demo/debug", "/rooms/demo/debug.svg", "/rooms/demo/debug.json",
    ]

    /// The remedy is another `--admin-address`, not another `--port`.
    private static func inUse(_ port: UInt16) -> StartupError {
        .administrationAddressNotUsable("127.0.0.1:\(port)", reason: "another program has it")
    }

    @Test("figures, the list of rooms and debug views are not served at the other port", arguments: paths)
    func elsewhere(path: String) async throws {
        var client = SignallingClient()
        client.script.state.withLock { $0.snapshot.rooms = [RoomSnapshot(id: "demo")] }
        client.hasAdministrationAddress = true
        let answer = try await client.send(.get, path)
        #expect(answer.status == .forbidden)
        #expect(answer.detail.contains("--admin-address"))
        #expect(try await client.send(.get, "/healthz").status == .ok)
        #expect(try await client.send(.get, "/rooms/demo").status == .ok)
    }

    @Test(
        "an open relay that has no such address says what draining takes",
        arguments: [HTTPRequest.Method.post, .delete])
    func draining(method: HTTPRequest.Method) async throws {
        let answer = try await SignallingClient().send(method, "/admin/drain")
        #expect(answer.status == .forbidden)
        #expect(answer.detail.contains("--admin-address") && !answer.detail.contains("moderator's key"))
    }

    @Test("a server serves them there, and nothing that changes a call")
    func server() async throws {
        let free = try await RunningServer.freePort()
        var configuration = RelayServerConfiguration()
        configuration.administrationAddress = TransportAddress(ipv4: 0x7F00_0001, port: free)
        let script = TwinRelay.Script()
        script.state.withLock { $0.snapshot.rooms = [RoomSnapshot(id: "demo")] }
        try await RunningServer.run(configuration, script: script) { server in
            let refused = try await server.get("/metrics")
            #expect(refused.hasPrefix("HTTP/1.1 403 "))
            let administration = RunningServer(server: server.server, port: free, script: script)
            let metrics = try await administration.get("/metrics")
            #expect(metrics.hasPrefix("HTTP/1.1 200 "))
            let rooms = try await administration.get("/rooms")
            #expect(rooms.contains(#""id":"demo""#))
            let join = try await administration.join()
            #expect(join.hasPrefix("HTTP/1.1 404 "))
        }
    }

    @Test(
        "an address that others can reach is warned of once, with what it shows",
        arguments: [(0x0000_0000, true), (0x7F00_0001, false)] as [(UInt32, Bool)])
    func warning(address: UInt32, isReachable: Bool) async throws {
        let free = try await RunningServer.freePort()
        var configuration = RelayServerConfiguration()
        configuration.administrationAddress = TransportAddress(ipv4: address, port: free)
        let lines = LogLines()
        try await RunningServer.run(configuration, logger: Logger(label: "test") { _ in LogCollector(lines: lines) }) {
            let administration = RunningServer(server: $0.server, port: free, script: $0.script)
            // Served after the log lines of the start.
            _ = try await administration.get("/healthz")
        }
        let warnings = lines.texts.withLock { $0.filter { $0.hasPrefix("warning: everybody who reaches") } }
        #expect(warnings.count == (isReachable ? 1 : 0))
        #expect(warnings.allSatisfy { $0.contains("recordings") && $0.contains("--admin-address") })
    }

    @Test("an address in use is told before anything is served")
    func portInUse() async throws {
        try await RunningServer.run { server in
            var configuration = RelayServerConfiguration()
            configuration.port = 0
            configuration.administrationAddress = TransportAddress(ipv4: 0x7F00_0001, port: server.port)
            await #expect(throws: Self.inUse(server.port)) {
                _ = try await RelayServer.bind(configuration, logger: .init(label: "test"))
            }
        }
    }

    @Test("an address that another program takes after that ends the relay before it tells that it listens")
    func portTakenLater() async throws {
        let free = try await RunningServer.freePort()
        var configuration = RelayServerConfiguration()
        configuration.port = 0
        configuration.administrationAddress = TransportAddress(ipv4: 0x7F00_0001, port: free)
        let server = try await RelayServer(
            configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            onListening: { _ in Issue.record("half of it listens") }, makeRelay: { _ in TwinRelay(.init()) })
        let other = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: "127.0.0.1", port: Int(free)).get()
        await #expect(throws: Self.inUse(free)) {
            try await server.run()
        }
        try await other.close()
    }
}
