import SecureTransport

/// The role of the describing side in the DTLS handshake: `a=setup` (RFC 4145, section 4; RFC 8842, section 5.3).
enum DTLSSetup: String {
    /// Sends the ClientHello.
    case active
    /// Waits for the ClientHello.
    case passive
    /// Leaves the choice to the other side; only in offers.
    case either = "actpass"
    /// No handshake for now.
    case hold = "holdconn"

    /// Creates the value for a role that is already chosen.
    init(_ role: DTLSRole) {
        self = role == .client ? .active : .passive
    }

    /// The role of the *answering* side if the offer says this; nil if there is no handshake. If the offer leaves the
    /// choice, the offerer becomes the client: its ClientHello then opens the path, as its connectivity checks do.
    var answererRole: DTLSRole? {
        switch self {
        case .active, .either: .server
        case .passive: .client
        case .hold: nil
        }
    }
}
