/// Offer and answer (RFC 3264) for one H.264 and one Opus stream over SRTP.
///
/// Keys come from `a=crypto` (RFC 4568). Media over DTLS-SRTP is rejected in the one place that looks at
/// `MediaTransport.Keying`, which is where its handshake will be chosen.
///
/// What each side receives is decrypted with the other side's key: `SRTPKeyPair.inbound` is always the key that
/// the remote side stated.
public enum OfferAnswer {
    /// Why a stream of an offer is not accepted: what the answer says with port 0.
    struct Rejection {
        /// The line to blame, from 1.
        var line: Int
        var reason: String
    }
}
