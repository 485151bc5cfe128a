package import MediaCore

/// When an encoder makes keyframes: requests coalesce, and what keyframes take of the rate is bounded.
package struct KeyframeSchedule {
    /// How much keyframes may take.
    package struct Policy {
        /// Keyframes come no closer together than this, however many are asked for.
        package var minimumInterval: Duration
        /// The share of the rate that keyframes take at most in the long run.
        package var share: Double
        /// How much of that share may be saved up and used later, as time.
        var saving = Duration.zero
        /// After this time since the last, a keyframe is made whatever its share.
        package var maximumInterval: Duration

        /// An encoder whose one receiver pays for what it asks for.
        package static let dedicated = Policy(
            minimumInterval: .milliseconds(500), share: 0.3, maximumInterval: .seconds(3))

        /// An encoder of which each keyframe is paid for by all its receivers.
        package static func shared(share: Double) -> Policy {
            Policy(
                minimumInterval: .milliseconds(500), share: share, saving: .seconds(6), maximumInterval: .seconds(5))
        }
    }

    /// Whether a keyframe is to come; the first frame is one.
    package private(set) var isWanted = true
    package private(set) var last: MonotonicInstant?
    /// How long all of the rate took for the last one.
    private var time = Duration.zero
    /// When those before it are paid for.
    private var paidUntil = MonotonicInstant.zero

    package init() {}

    package mutating func request() { isWanted = true }

    /// When the next keyframe may come.
    package func earliest(_ policy: Policy) -> MonotonicInstant {
        guard let last else { return .zero }
        let due = allPaid(policy, since: last) - policy.saving
        return min(max(due, last + policy.minimumInterval), last + policy.maximumInterval)
    }

    private func allPaid(_ policy: Policy, since last: MonotonicInstant) -> MonotonicInstant {
        max(last, paidUntil) + time / max(policy.share, 0.001)
    }

    /// Whether the next frame is to be a keyframe.
    package func isDue(_ policy: Policy, now: MonotonicInstant) -> Bool {
        isWanted && now >= earliest(policy)
    }

    /// A keyframe is being encoded.
    package mutating func begin(_ policy: Policy, now: MonotonicInstant) {
        if let last { paidUntil = min(allPaid(policy, since: last), now + policy.saving) }
        time = .zero
        isWanted = false
        last = now
    }

    /// A keyframe came out, at a rate.
    package mutating func end(size: DataSize, rate: BitRate, now: MonotonicInstant) {
        last = now
        time = rate.duration(for: size)
    }
}
