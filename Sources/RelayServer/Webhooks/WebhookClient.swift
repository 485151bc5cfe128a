import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import RoomMedia

/// Posts to webhooks by HTTP. Its connections are its own, on threads that no media passes.
struct WebhookClient: WebhookTransport {
    private let client: HTTPClient

    private static let timeout = TimeAmount.seconds(10)
    /// An answer's body is of no use; a longer one costs the connection.
    private static let longestAnswer = 65_536

    init() {
        var configuration = HTTPClient.Configuration.withoutRedirections(connectingWithin: .seconds(5))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 8
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func post(_ body: [UInt8], to url: String, fields: [(name: String, value: String)]) async throws -> Int {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "User-Agent", value: "confrelay/\(RelayVersion.current)")
        for (name, value) in fields { request.headers.add(name: name, value: value) }
        request.body = .bytes(ByteBuffer(bytes: body))
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, timeout: Self.timeout)
        } catch {
            throw HTTPRequestError(error)
        }
        _ = try? await response.body.collect(upTo: Self.longestAnswer)
        return Int(response.status.code)
    }

    func close() async { try? await client.shutdown() }
}
