import MediaCore

/// Decides when two groups that have come to be alike become one.
///
/// What is gained is an encoder, for as long as the call lasts; what it costs is one keyframe for the members. The sum
/// of what each member loses by that grows with their number, as what an encoder saves does not, so that the one cannot
/// be weighed against the other: of many equal receivers, two groups would stay for ever. So groups are merged where
/// their members lose less by it than an encoder is worth and this has been so for some seconds, or where a keyframe
/// comes in any case. Controllers' targets waver: a merge that is taken back soon doubles the time for the next.
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
        /// Whether the group that remains makes a keyframe in any case.
        var isFree: Bool
    }

    /// How long two groups must have been alike, and how long at most after merges that did not last.
    private static let patience = (first: Duration.seconds(4), longest: Duration.seconds(64))
    /// A merge that is taken back within this time has failed.
    private static let trial = Duration.seconds(30)

    private var since: [Pair: MonotonicInstant] = [:]
    private var patience = Self.patience.first
    private var lastMerge: MonotonicInstant?

    /// Takes in what could be merged now; to be called each second or so.
    ///
    /// - Returns: Which groups are to be merged.
    mutating func choose(_ candidates: [Candidate], now: MonotonicInstant) -> Pair? {
        let alike = candidates.filter { $0.gain > 0 }
        since = Dictionary(alike.map { ($0.pair, since[$0.pair] ?? now) }, uniquingKeysWith: { first, _ in first })
        let due = alike.filter { candidate in
            let time = since[candidate.pair].map { now - $0 } ?? .zero
            return time >= (candidate.isFree ? patience / 4 : patience)
        }
        return due.max { ($0.gain, $1.pair.second) < ($1.gain, $0.pair.second) }?.pair
    }

    /// Two groups were merged.
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
