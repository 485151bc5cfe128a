/// Whether receivers whose picture is one source, unchanged, or who hear one alone, are sent its sender's own packets.
public enum ForwardingMode: String, CaseIterable, Codable, Sendable {
    /// Where it fits.
    case auto
    /// Never: everybody's picture is encoded, and all audio is mixed.
    case off
}
