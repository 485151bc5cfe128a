/// The reason for which candidates or an ICE restart were refused.
public enum TrickleError: Error, Hashable, CustomStringConvertible {
    /// There is no such participant in the room.
    case noSuchParticipant
    /// The entity tag belongs to an ICE session that a restart has replaced.
    case sessionReplaced
    /// The participant joined without ICE.
    case notSupported
    /// The participant restarted ICE too often; the next restart is possible after this many seconds.
    case tooManyRestarts(retryAfter: Int)

    public var description: String {
        switch self {
        case .noSuchParticipant: "there is no such participant in the room; it may have left: join again"
        case .sessionReplaced: "the ICE session was replaced by a restart: send the newest ETag in If-Match"
        case .notSupported:
            "this participant joined without ICE; so it has no candidates and nothing to restart"
        case .tooManyRestarts(let seconds):
            "this participant restarted ICE too often in a short time; try again in \(seconds) s"
        }
    }
}
