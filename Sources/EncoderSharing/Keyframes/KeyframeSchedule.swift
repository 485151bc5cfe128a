package import MediaCore

/// When an encoder makes keyframes: requests coalesce, and what keyframes take of the rate is bounded.
package struct KeyframeSchedule {
    /// How much keyframes may take.
    package struct Policy {
        /// Keyframes come no closer together than this, however many are asked for.
        package var minimumInterval = Duration.milliseconds(500)
        /// The share of the rate that keyframes take at most in the long run.
        package var share: Double
        /// How much of that share may be saved up and used later, as time.
        var saving = Duration.zero
        /// How long after the last one a keyframe that is asked for is made at the latest, whatever its share.
        package var longestWait: Duration

        /// An encoder whose one receiver pays for what it asks for.
        package static let dedicated = Policy(share: 0.3, longestWait: .seconds(3))

        /// An encoder of which each keyframe is paid for by all its receivers.
        package static func shared(share: Double) -> Policy {
            Policy(share: share, saving: .seconds(6), longestWait: .seconds(5))
        }
    }

    /// Whether a keyframe is to come; the first frame is one.
    package private(set) var isWanted = true
    package private(set) var last: MonotonicInstant?
    /// The time for which the last keyframe took all of the rate.
    private var lastCost = Duration.zero
    /// When those before it are paid for.
    private var paidUntil = MonotonicInstant.zero

    package init() {}

    package mutating func request() { isWanted = true }

    /// When the next keyframe may come.
    package func earliest(_ policy: Policy) -> MonotonicInstant {
        guard let last else { return .zero }
        let due = allPaid(policy, since: last) - policy.saving
        return min(max(due, last + policy.minimumInterval), last + policy.longestWait)
    }

    private func allPaid(_ policy: Policy, since last: MonotonicInstant) -> MonotonicInstant {
        max(last, paidUntil) + lastCost / max(policy.share, 0.001)
    }

    /// Whether the next frame is to be a keyframe.
    package func isDue(_ policy: Policy, now: MonotonicInstant) -> Bool {
        isWanted && now >= earliest(policy)
    }

    /// A keyframe is being encoded.
    package mutating func begin(_ policy: Policy, now: MonotonicInstant) {
        if let last { paidUntil = min(allPaid(policy, since: last), now + policy.saving) }
        lastCost = .zero
        isWanted = false
        last = now
    }

    /// A keyframe came out, at a rate.
    package mutating func end(size: DataSize, rate: BitRate, now: MonotonicInstant) {
        last = now
        lastCost = rate.duration(for: size)
    }
}
