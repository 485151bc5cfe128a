/// The policy of forwarding: to receivers whose picture is one unchanged source, or that hear only one, the sender's
/// own packets may be sent.
public enum ForwardingMode: String, CaseIterable, Codable, Sendable {
    /// Packets are forwarded if they fit.
    case auto
    /// Never: everybody's picture is encoded, and all audio is mixed.
    case off
}
