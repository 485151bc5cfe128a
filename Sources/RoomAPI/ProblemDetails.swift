/// Why a request was refused, as `application/problem+json` (RFC 9457).
public struct ProblemDetails: Codable, Hashable, Sendable {
    /// Something wrong at a place of the JSON that came.
    public struct Mistake: Codable, Hashable, Sendable {
        /// The place, such as `template.slots[2].width`; empty for the whole document.
        public var path: String
        public var reason: String

        public init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }
    }

    /// What the status is called.
    public var title: String?
    /// The status code of HTTP.
    public var status: Int?
    /// What happened, and what to do about it.
    public var detail: String?
    /// What is wrong at which places, for programs; nil where there is nothing such.
    public var errors: [Mistake]?

    public init(title: String?, status: Int?, detail: String?, errors: [Mistake]?) {
        self.title = title
        self.status = status
        self.detail = detail
        self.errors = errors
    }

    /// What is wrong, in a line for people; nil where the answer does not say.
    public var reason: String? {
        let mistakes = (errors ?? []).map { $0.path.isEmpty ? $0.reason : "\($0.path): \($0.reason)" }
        return mistakes.isEmpty ? detail : mistakes.joined(separator: "; ")
    }
}
