import Cluster
import Foundation
import HTTPTransfer
import HTTPTypes
import Hummingbird
import NIOCore

/// Brings joins to the relays where they belong, for clients that do not follow redirections.
final class JoinProxy: Sendable {
    private let client = HTTPClient(connectingWithin: .seconds(1))

    private static let timeout = Duration.seconds(5)
    private static let longestAnswer = 256 * 1024
    private static let passedFields: [HTTPField.Name] = [
        .contentType, .authorization, .roomPIN, .moderatorKey, .accept, .traceparent,
    ]
    private static let answeredFields: [HTTPField.Name] = [
        .contentType, .eTag, .link, .rejoinKey, .moderatorKey, .retryAfter, .wwwAuthenticate, .acceptPost,
    ]

    func close() async { await client.close() }

    /// Sends a join on, until a relay takes or refuses it.
    ///
    /// - Parameters:
    ///   - location: Where the join belongs, with a ticket.
    ///   - relays: The URLs of the cluster's relays: nobody else gets the client's token and PIN.
    /// - Returns: The answer, with the URL of the session.
    func send(
        _ request: Request, offer: String, to location: String, among relays: [String]
    ) async throws -> Response {
        var location = location
        for _ in 0...ClusterDirectory.maximumHops {
            var sent = HTTPClient.Request(.post, location)
            for name in Self.passedFields {
                if let value = request.headers[name] { sent.add(name.rawName, value) }
            }
            // The client's address is in the ticket: that of the connection is this relay's.
            sent.add("Forwarded", "for=unknown")
            sent.body = Array(offer.utf8)
            let answer: HTTPClient.Answer
            do throws(HTTPFailure) {
                answer = try await client.perform(sent, within: Self.timeout, upTo: Self.longestAnswer)
            } catch {
                throw Problem(
                    .serviceUnavailable, "the relay that has the room does not answer; try again in a second",
                    headers: [.retryAfter: "1"])
            }
            let next = answer.head.values(of: HTTPField.Name.location.rawName).first.flatMap {
                URL(string: $0, relativeTo: URL(string: location))?.absoluteString
            }
            if answer.status == 307, let next {
                guard relays.contains(where: { next.hasPrefix("\($0)/") }) else {
                    throw Problem(
                        .serviceUnavailable,
                        "the join was sent on to a server that is no relay of the cluster; try again in a second",
                        headers: [.retryAfter: "1"])
                }
                location = next
                continue
            }
            var response = Response(
                status: .init(code: answer.status),
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
            for name in Self.answeredFields {
                for value in answer.head.values(of: name.rawName) {
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
