/// An error in a session description: the text was not understood, or the description was not accepted.
///
/// Lines count from 1. `description` is a sentence that can be the answer to an HTTP request.
public enum SDPError: Error, Hashable, CustomStringConvertible {
    /// The text is larger than `SessionDescription.maximumSize`.
    case tooLarge(byteCount: Int)
    /// A line that RFC 8866, or the RFC of its attribute, does not allow.
    case malformed(line: Int, reason: String)
    /// A well-formed description that asks for nothing that we support.
    case unacceptable(line: Int, reason: String)
    /// An answer that does not fit its offer (RFC 3264, section 6).
    case mismatchedAnswer(line: Int, reason: String)

    /// The faulty line, from 1; nil if the fault is the whole text.
    public var line: Int? {
        switch self {
        case .tooLarge: nil
        case .malformed(let line, _), .unacceptable(let line, _), .mismatchedAnswer(let line, _): line
        }
    }

    public var description: String {
        switch self {
        case .tooLarge(let byteCount):
            "the session description has \(byteCount) bytes, at most \(SessionDescription.maximumSize) are accepted"
        case .malformed(let line, let reason): "line \(line): \(reason)"
        case .unacceptable(let line, let reason): "line \(line): not acceptable: \(reason)"
        case .mismatchedAnswer(let line, let reason): "line \(line): the answer does not fit the offer: \(reason)"
        }
    }
}
