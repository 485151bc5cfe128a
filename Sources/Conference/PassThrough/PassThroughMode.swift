/// Whether receivers whose picture is one source, unchanged, are sent its sender's own packets.
public enum PassThroughMode: String, CaseIterable, Codable, Sendable {
    /// Where it fits.
    case auto
    /// Never: everybody's picture is encoded.
    case off
}
