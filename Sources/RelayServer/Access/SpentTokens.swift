import Synchronization

/// The tokens for a single use that were used, until they expire.
final class SpentTokens: Sendable {
    /// More are refused: a token that is forgotten could be used again.
    static let capacity = 65_536

    enum Refusal: Equatable {
        case spent
        case full
    }

    private struct Entry {
        var expiry: Double
        /// The participant that joined with it; nil while the join is under way.
        var participant: String?
        /// The one that had joined with it before the join that is under way.
        var former: String?
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// Notes that a token is used.
    ///
    /// - Parameters:
    ///   - expiry: When the token expires, in seconds since 1970.
    ///   - former: The participant that the client was until now, as it has proved: who joined with the token may come
    ///     back with it.
    ///   - time: The present time.
    /// - Returns: Why it may not be; nil: it may.
    func spend(_ id: String, expiry: Double, returningAs former: String?, time: Double) -> Refusal? {
        entries.withLock { entries in
            let before = entries[id]
            if let before {
                guard let participant = before.participant, participant == former else { return .spent }
            }
            if entries.count >= Self.capacity { entries = entries.filter { $0.value.expiry > time } }
            guard entries.count < Self.capacity || entries[id] != nil else { return .full }
            entries[id] = Entry(expiry: expiry, former: before?.participant)
            return nil
        }
    }

    /// Notes who joined with a token.
    func setParticipant(_ participant: String, of id: String) {
        entries.withLock { $0[id]?.participant = participant }
    }

    /// The join did not come about: the token is as it was.
    func giveBack(_ id: String) {
        entries.withLock { entries in
            if let former = entries[id]?.former { entries[id]?.participant = former } else { entries[id] = nil }
        }
    }
}
