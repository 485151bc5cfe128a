/// An attribute, `a=name` or `a=name:value` (RFC 8866, 5.13).
public struct SDPAttribute: Sendable {
    public var name: String
    /// The text after the colon; nil for a property attribute, which has no colon.
    public var value: String?
    /// The line that the attribute was parsed from, from 1; 0 if it was not parsed. Two attributes that differ only
    /// here are equal.
    public var line: Int

    public init(_ name: String, _ value: String? = nil, line: Int = 0) {
        self.name = name
        self.value = value
        self.line = line
    }
}

extension SDPAttribute: Hashable {
    public static func == (left: SDPAttribute, right: SDPAttribute) -> Bool {
        left.name == right.name && left.value == right.value
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(value)
    }
}

extension SDPAttribute: CustomStringConvertible {
    public var description: String { value.map { "a=\(name):\($0)" } ?? "a=\(name)" }
}
