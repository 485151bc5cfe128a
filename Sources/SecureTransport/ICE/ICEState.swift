/// The state of the path between two sides.
public enum ICEState: Hashable, Sendable {
    /// No check has succeeded yet.
    case new
    /// There is a path, and the other side was recently heard on it.
    case connected
    /// There was a path, but the other side has been silent on it for some seconds. It may come back, here or from
    /// another address.
    case disconnected
    /// There is no consent to send anything (RFC 7675, section 5.1). Only a restart leads out.
    case failed
}
