/// The role of a side in a DTLS handshake (`a=setup` of RFC 8842, section 5.3).
public enum DTLSRole: Hashable, Sendable {
    /// Sends the ClientHello: `a=setup:active`.
    case client
    /// Waits for it: `a=setup:passive`.
    case server

    /// The role of the other side.
    public var reversed: DTLSRole { self == .client ? .server : .client }
}
