/// Why the text of a candidate was not understood.
public struct ICECandidateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, as part of a sentence.
    public var reason: String

    public var description: String { "a candidate \(reason)" }
}
