import AsyncHTTPClient
import Cluster
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import RoomMedia

/// Brings joins to the relays where they belong, for clients that do not follow redirections.
final class JoinProxy: Sendable {
    private let client: HTTPClient

    private static let timeout = TimeAmount.seconds(5)
    private static let longestAnswer = 256 * 1024
    private static let passedFields: [HTTPField.Name] = [
        .contentType, .authorization, .roomPIN, .moderatorKey, .accept, .traceparent,
    ]
    private static let answeredFields: [HTTPField.Name] = [
        .contentType, .eTag, .link, .rejoinKey, .moderatorKey, .retryAfter, .wwwAuthenticate, .acceptPost,
    ]

    init() {
        client = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: .withoutRedirections(connectingWithin: .seconds(1)))
    }

    func close() async { try? await client.shutdown() }

    /// Sends a join on, until a relay takes or refuses it.
    ///
    /// - Parameter location: Where the join belongs, with a ticket.
    /// - Returns: The answer, with the URL of the session.
    func send(_ request: Request, offer: String, to location: String) async throws -> Response {
        var location = location
        for _ in 0...ClusterDirectory.maximumHops {
            let answer: HTTPClientResponse
            let body: ByteBuffer
            do {
                var sent = HTTPClientRequest(url: location)
                sent.method = .POST
                for name in Self.passedFields {
                    if let value = request.headers[name] { sent.headers.add(name: name.rawName, value: value) }
                }
                // The client's address is in the ticket: that of the connection is this relay's.
                sent.headers.add(name: "Forwarded", value: "for=unknown")
                sent.body = .bytes(ByteBuffer(string: offer))
                answer = try await client.execute(sent, deadline: .now() + Self.timeout)
                body = try await answer.body.collect(upTo: Self.longestAnswer)
            } catch {
                throw Problem(
                    .serviceUnavailable, "the relay that has the room does not answer; try again in a second",
                    headers: [.retryAfter: "1"])
            }
            let next = answer.headers.first(name: "Location").flatMap {
                URL(string: $0, relativeTo: URL(string: location))?.absoluteString
            }
            if answer.status == .temporaryRedirect, let next {
                location = next
                continue
            }
            var response = Response(
                status: .init(code: Int(answer.status.code)), body: ResponseBody(byteBuffer: body))
            for name in Self.answeredFields {
                for value in answer.headers[name.rawName] {
                    response.headers.append(HTTPField(name: name, value: value))
                }
            }
            response.headers[.location] = next
            return response
        }
        throw Problem(
            .serviceUnavailable, "the relays do not agree on where the room is; try again in a second",
            headers: [.retryAfter: "1"])
    }
}
