import SDP

/// A received offer. It is parsed when it is made, on the thread that received it, so that this work does not delay
/// everybody's media on the relay's event loop.
public struct ReceivedOffer: Sendable {
    /// The parsed text, or why it cannot be parsed.
    let description: Result<SessionDescription, SDPError>

    public init(_ text: String) {
        description = Result { () throws(SDPError) in try SessionDescription(parsing: text) }
    }
}
