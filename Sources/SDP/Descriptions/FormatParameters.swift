/// `a=fmtp:96 name=value;name=value` (RFC 8866, 6.15), in the form that H.264 and Opus use.
public struct FormatParameters: Hashable, Sendable {
    public var payloadType: UInt8
    /// The values by their lower-case names.
    public var values: [String: String]
    /// The attribute's line, from 1; 0 when it was not parsed.
    var line: Int

    public init(payloadType: UInt8, values: [String: String], line: Int = 0) {
        self.payloadType = payloadType
        self.values = values
        self.line = line
    }

    /// Reads the attribute's value and ignores parameters that are not of the form `name=value`.
    init(parsing attribute: SDPAttribute) throws(SDPError) {
        let text = Substring(attribute.value ?? "")
        guard let (head, tail) = text.divided(at: " "), let payloadType = UInt8(payloadType: head) else {
            throw attribute.error("expected 'a=fmtp:<payload type> <name>=<value>;...'")
        }
        self.init(payloadType: payloadType, values: [:], line: attribute.line)
        for parameter in tail.utf8.split(separator: UInt8(ascii: ";")) {
            guard let (name, value) = Substring(parameter).trimmed.divided(at: "=") else { continue }
            values[name.trimmed.lowercased()] = String(value.trimmed)
        }
    }

    /// Returns a parameter's value as a number; nil when it is absent.
    func integer(_ name: String, in range: ClosedRange<Int>) throws(SDPError) -> Int? {
        guard let text = values[name] else { return nil }
        guard text.isDecimal, let value = Int(text), range.contains(value) else {
            throw .malformed(
                line: line,
                reason: "\(name)=\(text.excerpt) is not a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// Returns true if a parameter is `1`, which means true; false when it is absent.
    func flag(_ name: String) throws(SDPError) -> Bool {
        try integer(name, in: 0...1) == 1
    }
}
