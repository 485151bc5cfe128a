import Dispatch
import Glibc
import Logging
import NIOCore
import NIOPosix
import SecureTransport
import ServiceLifecycle
import Synchronization
import Testing

@testable import RelayServer

/// A server around a relay's twin that listens on a free port of loopback.
struct RunningServer {
    let server: RelayServer
    let port: UInt16
    let script: TwinRelay.Script

    /// Runs `body` with a server, and ends it.
    ///
    /// Both have threads of their own. The server closes a connection that is idle for half a minute, and tests that
    /// simulate calls keep the other threads for longer.
    static func run(
        _ configuration: RelayServerConfiguration = RelayServerConfiguration(), script: TwinRelay.Script = .init(),
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        _ body: (RunningServer) async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(OwnThreads.shared) {
            try await run(listening: configuration, script: script, logger: logger, body)
        }
    }

    private static func run(
        listening configuration: RelayServerConfiguration, script: TwinRelay.Script, logger: Logger,
        _ body: (RunningServer) async throws -> Void
    ) async throws {
        var configuration = configuration
        configuration.port = 0
        let (listening, announce) = AsyncStream.makeStream(of: RelayServer.Endpoint.self)
        let server = try await RelayServer(
            configuration, logger: logger, onListening: { announce.yield($0) },
            makeRelay: { _ in TwinRelay(script) })
        let group = ServiceGroup(services: [server], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let run = Task(executorPreference: OwnThreads.shared) {
            defer { announce.finish() }
            try await group.run()
        }
        var endpoints = listening.makeAsyncIterator()
        guard let endpoint = await endpoints.next() else {
            try await run.value
            Issue.record("the server ended before it listened")
            return
        }
        do {
            try await body(RunningServer(server: server, port: endpoint.port, script: script))
        } catch {
            Issue.record(error)
        }
        await group.triggerGracefulShutdown()
        try await run.value
    }

    /// Ports below those that the system gives out by itself, so that no other test has one in between.
    private static let ports = 20_000..<30_000
    private static let nextPort = Mutex(ports.lowerBound + Int(getpid()) % ports.count)

    /// A TCP port of loopback that nobody listens on.
    static func freePort() async throws -> UInt16 {
        for _ in ports {
            let port = nextPort.withLock { next in
                defer { next = next + 1 < ports.upperBound ? next + 1 : ports.lowerBound }
                return next
            }
            let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            guard let channel = try? await bootstrap.bind(host: "127.0.0.1", port: port).get() else { continue }
            try await channel.close()
            return UInt16(clamping: port)
        }
        throw StartupError.addressNotAvailable("127.0.0.1")
    }

    typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Opens a TCP connection from an address of this machine.
    func connect(from host: String = "127.0.0.1") async throws -> Connection {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(to: SocketAddress(ipAddress: host, port: 0))
            .connect(host: "127.0.0.1", port: Int(port)) { channel in
                channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
            }
    }

    /// Sends text on a new connection; returns the answer up to the point at which the server closes it.
    func exchange(_ text: String, from host: String = "127.0.0.1") async throws -> String {
        try await connect(from: host).executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: text))
            var answer = ""
            do {
                for try await part in inbound { answer += String(buffer: part) }
            } catch is IOError {
                // The server reset the connection; the answer received before that counts.
            }
            return answer
        }
    }

    /// The whole answer to a `GET`.
    func get(_ path: String, from host: String = "127.0.0.1") async throws -> String {
        try await exchange("GET \(path) HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n\r\n", from: host)
    }

    /// The whole answer to a join.
    func join(from host: String = "127.0.0.1") async throws -> String {
        try await exchange(
            "POST /rooms/demo/participants HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n"
                + "Content-Type: application/sdp\r\nContent-Length: 5\r\n\r\nv=0\r\n", from: host)
    }
}

/// Runs tasks on threads that no other test keeps busy.
private final class OwnThreads: TaskExecutor {
    static let shared = OwnThreads()

    private let queue = DispatchQueue(label: "running servers", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
