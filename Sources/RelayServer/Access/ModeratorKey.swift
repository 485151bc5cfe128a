import MediaCore
import SecureTransport

/// The key with which a room of a relay without tokens is moderated. Who begins the room is told it; the room, its
/// relays and its cluster's directory have its digest alone.
struct ModeratorKey {
    /// Bytes of randomness: 128 bits.
    private static let size = 16
    private static let prefix = "mk-"

    let text: String

    init() {
        var random = SystemRandomNumberGenerator()
        text = Self.prefix + (0..<Self.size).map { _ in UInt8.random(in: .min ... .max, using: &random) }.hexadecimal
    }

    /// True if a text looks like the key of some room.
    static func isPlausible(_ text: String) -> Bool { text.hasPrefix(prefix) }

    /// The SHA-256 digest of a key, or of what a client shows as one.
    static func digest(of text: String) -> [UInt8] { SecureHash.sha256(text.utf8) }
}
