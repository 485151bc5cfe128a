import Foundation

/// A part of a join with its beginning and end, as OpenTelemetry describes spans.
struct TraceSpan: Sendable, Encodable {
    /// By its number in OTLP.
    enum Kind: Int, Encodable, Sendable {
        case `internal` = 1
        case server = 2
    }

    /// A value of an attribute; numbers are text in OTLP's JSON.
    enum Value: Encodable, Hashable, Sendable {
        case text(String)
        case number(Int)

        private enum CodingKeys: CodingKey { case stringValue, intValue }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            switch self {
            case .text(let text): try container.encode(text, forKey: .stringValue)
            case .number(let number): try container.encode("\(number)", forKey: .intValue)
            }
        }
    }

    struct Attribute: Encodable, Hashable, Sendable {
        var key: String
        var value: Value
    }

    var context: TraceContext
    var name: String
    var kind: Kind
    var start: Date
    var end: Date
    var attributes: [Attribute]
    /// The error; nil if there was none.
    var error: String?

    private enum CodingKeys: CodingKey {
        case traceId, spanId, parentSpanId, name, kind, startTimeUnixNano, endTimeUnixNano, attributes, status
    }

    private struct Status: Encodable {
        /// An error, by its number in OTLP.
        var code = 2
        var message: String
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(context.trace, forKey: .traceId)
        try container.encode(context.span, forKey: .spanId)
        try container.encodeIfPresent(context.parent, forKey: .parentSpanId)
        try container.encode(name, forKey: .name)
        try container.encode(kind, forKey: .kind)
        try container.encode(Self.nanoseconds(start), forKey: .startTimeUnixNano)
        try container.encode(Self.nanoseconds(max(end, start)), forKey: .endTimeUnixNano)
        try container.encode(attributes, forKey: .attributes)
        try container.encodeIfPresent(error.map { Status(message: $0) }, forKey: .status)
    }

    private static func nanoseconds(_ date: Date) -> String {
        // Microseconds are as much as a Date of today holds.
        "\(UInt64(clamping: Int64(date.timeIntervalSince1970 * 1e6)))000"
    }
}
