/// The transport of media to the relay, and the source of its keys.
public enum ClientTransport: String, Sendable, CaseIterable {
    /// The transport of browsers: ICE finds the path (RFC 8445), a DTLS handshake makes the keys (RFC 5764).
    case dtls
    /// The transport of SIP phones, ffmpeg and GStreamer's elements: addresses and keys are in the descriptions (RFC
    /// 4568).
    case sdes
}
