/// Offer and answer (RFC 3264; RFC 8829 as browsers speak it) for H.264 video, the screen share of a presentation, and
/// Opus over SRTP.
///
/// The keys come from a DTLS handshake over a path that ICE finds, one transport for all streams (RFC 8843), or from
/// `a=crypto` (RFC 4568), where what each side receives is decrypted with the other side's key: `SRTPKeyPair.inbound`
/// is always the key that the remote side stated.
public enum OfferAnswer {
    /// Why a stream of an offer is not accepted: what the answer says with port 0.
    struct Rejection {
        /// The line to blame, from 1.
        var line: Int
        var reason: String
        /// Whether it is video of which no codec can be had.
        var isVideoCodec = false
    }
}
