/// The mistakes of a template, each with its place in the JSON and the allowed values.
public struct LayoutTemplateError: Error, Hashable, Sendable {
    /// A mistake.
    public struct Issue: Hashable, Sendable {
        /// The place, such as `slots[2].width`; empty for the whole template.
        public var path: String
        /// The mistake, and the values that are allowed.
        public var reason: String

        public init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }
    }

    /// The mistakes: at least one, and at most `maximumIssueCount`.
    public let issues: [Issue]

    /// The largest number of listed mistakes.
    public static let maximumIssueCount = 32

    public init(path: String, reason: String) { issues = [Issue(path: path, reason: reason)] }

    /// Creates the error; nil if there are no issues.
    init?(_ issues: [Issue]) {
        guard !issues.isEmpty else { return nil }
        self.issues = Array(issues.prefix(Self.maximumIssueCount))
    }

    /// The place of the first mistake.
    public var path: String { issues.first?.path ?? "" }
}

extension LayoutTemplateError: CustomStringConvertible {
    public var description: String {
        issues.map { $0.path.isEmpty ? $0.reason : "\($0.path): \($0.reason)" }.joined(separator: "; ")
    }
}

extension [any CodingKey] {
    /// A place in a JSON document, such as `template.slots[2].width`; empty for the whole document.
    public var jsonPath: String {
        reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }
}
