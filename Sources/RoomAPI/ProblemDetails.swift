/// The reason for which a request was refused, as `application/problem+json` (RFC 9457).
public struct ProblemDetails: Codable, Hashable, Sendable {
    /// A mistake at a place of the received JSON.
    public struct Mistake: Codable, Hashable, Sendable {
        /// The place, such as `template.slots[2].width`; empty for the whole document.
        public var path: String
        public var reason: String

        public init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }
    }

    /// The name of the status.
    public var title: String?
    /// The status code of HTTP.
    public var status: Int?
    /// A description of the failure, and of what to do about it.
    public var detail: String?
    /// The mistakes with their places, for programs; nil if there are none.
    public var errors: [Mistake]?

    public init(title: String?, status: Int?, detail: String?, errors: [Mistake]?) {
        self.title = title
        self.status = status
        self.detail = detail
        self.errors = errors
    }

    /// How a refusal tells programs to show a proof. Programs tell people the name of their own option in its place.
    public static let proofInstruction = "send Authorization: Bearer with"

    /// The reason, in a line for people; nil if the answer has none.
    public var reason: String? {
        let mistakes = (errors ?? []).map { $0.path.isEmpty ? $0.reason : "\($0.path): \($0.reason)" }
        return mistakes.isEmpty ? detail : mistakes.joined(separator: "; ")
    }
}
