import SDP
import SecureTransport

/// An answer with its negotiated result.
struct Negotiation {
    var answer: SessionDescription
    var session: NegotiatedSession
    /// The answer to the ICE restart by fragment that made the credentials in use; nil if they are of an offer's
    /// answer.
    var restartAnswer: TrickleICEFragment?

    /// Names the ICE session, as a strong entity tag (RFC 9725, section 4.3.1): a restart makes another.
    var entityTag: String? {
        session.transport.map { "\"\($0.localCredentials.usernameFragment)\"" }
    }
}
