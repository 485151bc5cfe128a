import Compositing
import Conference
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import RoomAPI

/// A refusal, answered as `application/problem+json` (RFC 9457).
struct Problem: HTTPResponseError, Encodable, Equatable {
    let status: HTTPResponse.Status
    /// A description of the failure, and of what to do about it.
    let detail: String
    /// Fields that belong to the status, such as `Retry-After`.
    var headers: HTTPFields = [:]
    /// The mistakes in the received JSON with their places, for programs.
    var errors: [Mistake]

    typealias Mistake = ProblemDetails.Mistake

    init(_ status: HTTPResponse.Status, _ detail: String, headers: HTTPFields = [:], errors: [Mistake] = []) {
        self.status = status
        self.detail = detail
        self.headers = headers
        self.errors = errors
    }

    /// Creates the problem for valid JSON with an invalid template, with all its mistakes.
    init(_ error: LayoutTemplateError) {
        self.init(.unprocessableContent, error.description, errors: Self.mistakes(error.issues))
    }

    static func mistakes(_ issues: [LayoutTemplateError.Issue]) -> [Mistake] {
        issues.map { Mistake(path: $0.path, reason: $0.reason) }
    }

    /// The answer to a request for a room that does not exist.
    static func noRoom(_ name: RoomName) -> Problem {
        Problem(.notFound, RoomControlError.noSuchRoom(name.rawValue).description)
    }

    func encode(to encoder: any Encoder) throws {
        try ProblemDetails(
            title: status.reasonPhrase, status: status.code, detail: detail, errors: errors.isEmpty ? nil : errors
        ).encode(to: encoder)
    }

    /// The type of a problem document.
    static let mediaType = "application/problem+json"

    /// The document, its keys in a fixed order.
    func encoded() throws -> ByteBuffer { try Response.encode(self) }

    var response: Response {
        get throws {
            var response = try Response.json(self, status: status)
            response.headers[.contentType] = Self.mediaType
            for field in headers { response.headers.append(field) }
            return response
        }
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        try response
    }
}

extension Response {
    /// A JSON document, its keys in a fixed order.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        try json(encoded: encode(value), status: status)
    }

    /// A JSON document that is encoded already.
    static func json(encoded body: ByteBuffer, status: HTTPResponse.Status = .ok) -> Response {
        Response(status: status, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: body))
    }

    /// The JSON of a value, its keys in a fixed order.
    static func encode(_ value: some Encodable) throws -> ByteBuffer {
        ByteBuffer(bytes: try JSONEncoder.compact.encode(value))
    }

    /// A text of the given media type.
    static func text(
        _ text: String, type: String = "text/plain; charset=utf-8", status: HTTPResponse.Status = .ok
    ) -> Response {
        .text(encoded: ByteBuffer(string: text), type: type, status: status)
    }

    /// A text that is encoded already.
    static func text(
        encoded text: ByteBuffer, type: String, status: HTTPResponse.Status = .ok
    ) -> Response {
        Response(status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: text))
    }
}
