import MediaCore

/// Decides when two groups that have become alike merge.
///
/// The gain is an encoder, for the rest of the call; the cost is one keyframe for the members. The sum of the members'
/// losses grows with their number, but the price of an encoder does not, so comparing them would keep two groups of
/// many equal receivers for ever. So groups merge if each member loses less than the worth of an encoder, and this has
/// been so for some seconds, or if a keyframe comes in any case. Controllers' targets vary: a merge that is soon undone
/// doubles the time for the next.
package struct GroupMerging: Sendable {
    /// Two groups, the older one first.
    package struct Pair: Hashable, Sendable {
        var first: EncodeGroupID
        var second: EncodeGroupID

        init(_ one: EncodeGroupID, _ other: EncodeGroupID) {
            (first, second) = (min(one, other), max(one, other))
        }
    }

    struct Candidate: Sendable {
        var pair: Pair
        /// The price of an encoder, less the members' loss.
        var gain: Double
        /// True if the remaining group makes a keyframe in any case.
        var isFree: Bool
    }

    /// The time for which two groups must have been alike, and its maximum after merges that were undone.
    private static let patience = (first: Duration.seconds(4), longest: Duration.seconds(64))
    /// A merge that is taken back within this time has failed.
    private static let trial = Duration.seconds(30)

    private var since: [Pair: MonotonicInstant] = [:]
    private var patience = Self.patience.first
    private var lastMerge: MonotonicInstant?

    /// Takes the possible merges; call it each second or so.
    ///
    /// - Returns: The groups to merge.
    mutating func choose(_ candidates: [Candidate], now: MonotonicInstant) -> Pair? {
        let alike = candidates.filter { $0.gain > 0 }
        since = Dictionary(alike.map { ($0.pair, since[$0.pair] ?? now) }, uniquingKeysWith: { first, _ in first })
        let due = alike.filter { candidate in
            let time = since[candidate.pair].map { now - $0 } ?? .zero
            return time >= (candidate.isFree ? patience / 4 : patience)
        }
        return due.max { ($0.gain, $1.pair.second) < ($1.gain, $0.pair.second) }?.pair
    }

    /// Notes that two groups were merged.
    mutating func merged(now: MonotonicInstant) {
        if let lastMerge, now - lastMerge > Self.patience.longest * 2 { patience = Self.patience.first }
        lastMerge = now
    }

    /// A group was divided since its members had come to differ.
    mutating func parted(now: MonotonicInstant) {
        guard let lastMerge, now - lastMerge < Self.trial else { return }
        patience = min(patience * 2, Self.patience.longest)
    }
}
