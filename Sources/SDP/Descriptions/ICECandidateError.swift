/// An error in the text of an ICE candidate.
public struct ICECandidateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault, as part of a sentence.
    public var reason: String

    public var description: String { "a candidate \(reason)" }
}
