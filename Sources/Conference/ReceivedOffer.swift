import SDP
public import SecureTransport

/// An offer as it came. It is parsed when it is made, which is the work of the thread that received it: the relay's
/// event loop, on which everybody's media depends, finds a parsed one.
public struct ReceivedOffer: Sendable {
    public let text: String
    /// The parsed text, or why it cannot be parsed.
    let description: Result<SessionDescription, SDPError>

    /// Parses the text.
    public init(_ text: String) {
        self.text = text
        description = Result { () throws(SDPError) in try SessionDescription(parsing: text) }
    }
}
