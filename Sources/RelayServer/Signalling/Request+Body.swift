import Compositing
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import RoomAPI

extension Request {
    /// The type of the body, without parameters and in lower case; nil if it is not stated.
    var mediaType: String? {
        headers[.contentType]?.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
    }

    /// Returns the body.
    func bytes(upTo limit: Int) async throws -> [UInt8] {
        do {
            return Array(buffer: try await body.collect(upTo: limit))
        } catch is NIOTooManyBytesError {
            throw Problem(.contentTooLarge, "the body is larger than \(limit) bytes")
        }
    }

    /// The body as text.
    func text() async throws -> String {
        let bytes = try await bytes(upTo: SignallingLimits.bodySize)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Problem(.badRequest, "the body is not text in UTF-8")
        }
        return text
    }

    /// The body as a JSON document of a certain form; nil if it is empty, whatever is said of its type.
    func jsonIfAny<Value: Decodable>(_ type: Value.Type, example: String) async throws -> Value? {
        let text = try await text()
        guard !text.isEmpty else { return nil }
        try requireJSON()
        return try Self.decode(type, from: text, example: example)
    }

    /// The body as a JSON document of a certain form.
    func json<Value: Decodable>(_ type: Value.Type, example: String) async throws -> Value {
        try requireJSON()
        return try Self.decode(type, from: try await text(), example: example)
    }

    private func requireJSON() throws(Problem) {
        guard mediaType == SignallingMediaType.json else {
            throw Problem(.unsupportedMediaType, "the body must be JSON: send Content-Type: application/json")
        }
    }

    private static func decode<Value: Decodable>(_: Value.Type, from text: String, example: String) throws -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
        } catch let error as LayoutTemplateError {
            throw Problem(error)
        } catch let error as DecodingError {
            throw Problem(
                .badRequest, "\(error.explanation), such as \(example)",
                errors: error.path.map { [Problem.Mistake(path: $0, reason: error.explanation)] } ?? [])
        }
    }
}

extension DecodingError {
    /// A description of the mistake in the document, for its author.
    fileprivate var explanation: String {
        switch self {
        case .keyNotFound(let key, _): "the JSON lacks \"\(key.stringValue)\": send an object"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            switch context.codingPath.last {
            case .some(let key): "\"\(key.stringValue)\" in the JSON has a value of the wrong kind: send an object"
            case nil: "the JSON is not of the expected form: send an object"
            }
        case .dataCorrupted(let context) where !context.codingPath.isEmpty: context.debugDescription
        // The decoder does not tell a number that its type cannot hold from what is no JSON.
        default: "the body is not JSON, or has a number that is too large or not whole: send an object"
        }
    }

    /// The place in the document; nil if the whole is no JSON.
    fileprivate var path: String? {
        switch self {
        case .keyNotFound(let key, let context): (context.codingPath + [key]).jsonPath
        case .typeMismatch(_, let context), .valueNotFound(_, let context): context.codingPath.jsonPath
        case .dataCorrupted(let context) where !context.codingPath.isEmpty: context.codingPath.jsonPath
        default: nil
        }
    }
}
