/// Offer and answer (RFC 3264; RFC 8829 as browsers implement it) for H.264 video, H.264 screen share and Opus over
/// SRTP.
///
/// The keys come from a DTLS handshake over a path that ICE finds, with one transport for all streams (RFC 8843), or
/// from `a=crypto` (RFC 4568). With `a=crypto`, each side decrypts with the key that the other side stated:
/// `SRTPKeyPair.inbound` is always the remote side's key.
public enum OfferAnswer {
    /// The reason why a stream of an offer is not accepted. The answer gives its `m=` line port 0.
    struct Rejection {
        /// The line at fault, from 1.
        var line: Int
        var reason: String
        /// True for video without a codec that we support.
        var isVideoCodec = false
    }
}
