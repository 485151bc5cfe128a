import Logging
import Synchronization
import Testing

@testable import RelayServer

/// The messages that Agones gets from a relay.
@Suite struct AgonesReporterTests {
    /// Keeps what the SDK server would get.
    private final class Server: WebhookTransport {
        let requests = Mutex<[String]>([])
        let isAway = Mutex(false)

        func post(_ body: [UInt8], to url: String, fields: [(name: String, value: String)]) async throws -> Int {
            if isAway.withLock({ $0 }) { return 503 }
            requests.withLock { $0.append(url) }
            return 200
        }

        func take() -> [String] {
            requests.withLock { requests in
                defer { requests = [] }
                return requests
            }
        }
    }

    private let server = Server()
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func reporter(_ environment: [String: String] = [:]) -> AgonesReporter {
        AgonesReporter(environment: environment, transport: server, logger: logger)
    }

    @Test("a relay is ready, allocated while people are there, ready again, and lives")
    func states() async {
        var reporter = reporter(["AGONES_SDK_HTTP_PORT": "1234"])
        for participants in [0, 0, 2, 1, 0] { await reporter.tell(participants: participants) }
        await reporter.end()
        #expect(
            server.take()
                == [
                    "ready", "health", "health", "allocate", "health", "health", "ready", "health", "shutdown",
                ].map { "http://localhost:1234/\($0)" })
    }

    @Test("what the SDK server has not taken is told again")
    func late() async {
        var reporter = reporter()
        server.isAway.withLock { $0 = true }
        await reporter.tell(participants: 3)
        server.isAway.withLock { $0 = false }
        await reporter.tell(participants: 3)
        #expect(server.take() == ["allocate", "health"].map { "http://localhost:9358/\($0)" })
    }
}
