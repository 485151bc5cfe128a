/// Why a session description was not understood or not accepted.
///
/// Lines count from 1. The description is a sentence fit for the answer to an HTTP request.
public enum SDPError: Error, Hashable, CustomStringConvertible {
    /// The text is larger than `SessionDescription.maximumSize`.
    case tooLarge(byteCount: Int)
    /// A line is not what RFC 8866, or the RFC of its attribute, allows.
    case malformed(line: Int, reason: String)
    /// The description is well-formed, but nothing that it asks for can be had.
    case unacceptable(line: Int, reason: String)
    /// An answer does not fit the offer that it is for (RFC 3264, section 6).
    case mismatchedAnswer(line: Int, reason: String)

    /// The line at fault, from 1; nil when it is the whole text.
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
