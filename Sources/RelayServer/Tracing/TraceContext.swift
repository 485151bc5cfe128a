/// Where a span belongs: its trace, and its parent in it.
struct TraceContext: Hashable, Sendable {
    /// The trace's id, of 16 bytes, as 32 hexadecimal digits.
    let trace: String
    /// The span's id, of 8 bytes, as 16 hexadecimal digits.
    let span: String
    /// The span that caused this one, perhaps in another program; nil for the first of a trace.
    let parent: String?

    /// Begins a trace, or goes on with the one that a client began.
    ///
    /// - Parameter traceparent: The request's field of this name (W3C Trace Context, section 3.2); a malformed one
    ///   begins a new trace.
    init(traceparent: String?, using generator: inout some RandomNumberGenerator) {
        if let caller = Self.parse(traceparent) {
            (trace, parent) = caller
        } else {
            (trace, parent) = (Self.digits(&generator) + Self.digits(&generator), nil)
        }
        span = Self.digits(&generator)
    }

    /// A part of a span.
    init(partOf whole: TraceContext, using generator: inout some RandomNumberGenerator) {
        trace = whole.trace
        parent = whole.span
        span = Self.digits(&generator)
    }

    private static func parse(_ field: String?) -> (trace: String, parent: String)? {
        guard let field, field.utf8.count <= 256 else { return nil }
        let parts = field.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, isID(parts[0], digits: 2), parts[0] != "ff", parts[0] != "00" || parts.count == 4,
            isID(parts[1], digits: 32), parts[1].contains(where: { $0 != "0" }),
            isID(parts[2], digits: 16), parts[2].contains(where: { $0 != "0" })
        else { return nil }
        return (String(parts[1]), String(parts[2]))
    }

    private static func isID(_ text: Substring, digits: Int) -> Bool {
        text.utf8.count == digits
            && text.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }

    private static func digits(_ generator: inout some RandomNumberGenerator) -> String {
        // All zeros are no id.
        let text = String(UInt64.random(in: 1 ... .max, using: &generator), radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}
