/// Which part of a DTLS handshake a side plays (`a=setup` of RFC 8842, section 5.3).
public enum DTLSRole: Hashable, Sendable {
    /// Sends the ClientHello: `a=setup:active`.
    case client
    /// Waits for it: `a=setup:passive`.
    case server

    /// What the other side plays.
    public var reversed: DTLSRole { self == .client ? .server : .client }
}
