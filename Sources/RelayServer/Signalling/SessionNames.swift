import HTTPTypes
import MediaCore
import SecureTransport

/// The names of participants' sessions in locations: the participant's id, which is public, and a key that only the
/// joining client gets (RFC 9725, section 4.2: a location must not be guessable).
///
/// The key follows from the id, the room and a secret of the server's. Nothing is stored for a session.
struct SessionNames: Sendable {
    private let hash: KeyedHash

    /// Bytes of the code that a key has: 80 bits.
    private static let keySize = 10

    init(using generator: inout some RandomNumberGenerator) {
        hash = KeyedHash(using: &generator)
    }

    /// The name of a participant's session: the id, a point, and the key in hexadecimal digits.
    func name(of participant: String, in room: RoomName) throws(Problem) -> String {
        // A room's name has no '/'.
        guard let code = hash.code(of: "\(room.rawValue)/\(participant)") else {
            throw Problem(.internalServerError, "the session's key could not be made")
        }
        return "\(participant).\(code.prefix(Self.keySize).hexadecimal)"
    }

    /// Returns the participant of a session's name.
    ///
    /// - Throws: A problem with 403 for a name with another session's key.
    func participant(ofSession name: String, in room: RoomName) throws(Problem) -> String {
        let participant = Self.participant(in: name)
        guard SecretComparison.areEqual(Array(try self.name(of: participant, in: room).utf8), Array(name.utf8)) else {
            throw Problem(
                .forbidden,
                "only the client that joined may do this: use the Location of the answer to its join, with the key")
        }
        return participant
    }

    /// True if a text looks like the name of some session, with its key.
    static func isPlausible(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 2 && parts[1].count == 2 * keySize
    }

    /// The id in a name, with or without its key.
    static func participant(in name: String) -> String {
        String(name.prefix { $0 != "." })
    }
}
