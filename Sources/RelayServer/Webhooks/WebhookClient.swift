import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

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
            throw WebhookRequestError(error)
        }
        _ = try? await response.body.collect(upTo: Self.longestAnswer)
        return Int(response.status.code)
    }

    func close() async { try? await client.shutdown() }
}

/// A request that was not answered, and why, as the operator reads it.
struct WebhookRequestError: Error, CustomStringConvertible {
    let description: String

    init(_ error: any Error) { description = Self.reason(error) }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError where error.isTimeout: "no answer in time"
        case let error as HTTPClientError where error == .remoteConnectionClosed: "it closes the connection"
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { reason($0.error) } ?? "nothing is found at \(error.host)"
        case let error as IOError: String(cString: strerror(error.errnoCode))
        default: "\(error)"
        }
    }
}
