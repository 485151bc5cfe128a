import SecureTransport

/// `a=setup` (RFC 4145, section 4; RFC 8842, section 5.3): which part of the DTLS handshake the describing side plays.
enum DTLSSetup: String {
    /// Sends the ClientHello.
    case active
    /// Waits for the ClientHello.
    case passive
    /// An offer's: the other side is to choose.
    case either = "actpass"
    /// No handshake for now.
    case hold = "holdconn"

    /// The role of a side that has chosen.
    init(_ role: DTLSRole) {
        self = role == .client ? .active : .passive
    }

    /// What the *answering* side plays when the offer says this; nil where there is to be no handshake. Where the offer
    /// leaves the choice, the offerer is the client: its ClientHello then opens the path as its checks do.
    var answererRole: DTLSRole? {
        switch self {
        case .active, .either: .server
        case .passive: .client
        case .hold: nil
        }
    }
}
