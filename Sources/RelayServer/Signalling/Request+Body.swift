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

    /// The bytes that the body has as its client says; zero if it does not say.
    var statedSize: Int { headers[.contentLength].flatMap { Int($0) } ?? 0 }

    /// Returns the body.
    func bytes(upTo limit: Int) async throws -> [UInt8] {
        do {
            // Its client may wait for the refusal before it sends the body.
            guard statedSize <= limit else { throw NIOTooManyBytesError(maxBytes: limit) }
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
        let data = Data(text.utf8)
        do {
            return try JSONDecoder().decode(StrictBody<Value>.self, from: data).value
        } catch let error as LayoutTemplateError {
            throw Problem(error)
        } catch let error as DecodingError {
            let reason = error.explanation ?? reasonWithoutPlace(data)
            throw Problem(
                .badRequest, "\(reason); an example: \(example)",
                errors: error.path.map { [Problem.Mistake(path: $0, reason: reason)] } ?? [])
        }
    }

    /// The decoder names no place for a document that is no JSON, nor for a number that its field cannot hold.
    private static func reasonWithoutPlace(_ data: Data) -> String {
        let isJSON = (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
        return isJSON ? "a number in the JSON has a fraction, or is too large" : "the body is not JSON"
    }
}

extension DecodingError {
    /// A description of the mistake in the document, for its author; nil if it has no place.
    fileprivate var explanation: String? {
        switch self {
        case .keyNotFound(let key, _): "the JSON lacks \"\(key.stringValue)\""
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            if context.codingPath.isEmpty {
                "the JSON is not of the expected form: send an object"
            } else {
                "\"\(context.codingPath.jsonPath)\" in the JSON has a value of the wrong kind"
                    + (Self.kind(type).map { ": give \($0)" } ?? "")
            }
        case .dataCorrupted(let context) where !context.codingPath.isEmpty: context.debugDescription
        default: nil
        }
    }

    /// The JSON of a type in words; nil for lists and objects, which the example shows.
    private static func kind(_ type: Any.Type) -> String? {
        if type == Bool.self { return "true or false" }
        if type == String.self { return "a text" }
        if type == Int.self || type == Int64.self { return "a whole number" }
        return type == Double.self ? "a number" : nil
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
