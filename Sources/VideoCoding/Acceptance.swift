/// A decompression session's answer to a new format.
public enum Acceptance: Equatable, Sendable {
    /// The session continues with the new format, from its first sample on.
    case accept
    /// The session cannot continue; a new one can decode the format.
    case recreate(reason: String)
    /// No session decodes the format.
    case reject(reason: String)
}
