package import MediaCore

/// The times of an encoder's keyframes: requests are merged, and the keyframes' share of the rate is limited.
package struct KeyframeSchedule {
    /// The limits of keyframes.
    package struct Policy {
        /// Keyframes come no closer together than this, however many are asked for.
        package var minimumInterval = Duration.milliseconds(500)
        /// The share of the rate that keyframes take at most in the long run.
        package var share: Double
        /// The unused part of that share that may be saved for later, as time.
        var saving = Duration.zero
        /// The longest time from the last keyframe to a requested one, whatever its share.
        package var longestWait: Duration

        /// An encoder whose single receiver pays for its own requests.
        package static let dedicated = Policy(share: 0.3, longestWait: .seconds(3))

        /// An encoder whose receivers cannot ask, and get keyframes all the same.
        package static let unasked = Policy(share: 0.2, longestWait: .seconds(3))

        /// An encoder whose receivers all pay for each keyframe.
        package static func shared(share: Double) -> Policy {
            Policy(share: share, saving: .seconds(6), longestWait: .seconds(5))
        }
    }

    /// True if a keyframe is wanted; the first frame is one.
    package private(set) var isWanted = true
    package private(set) var last: MonotonicInstant?
    /// The time for which the last keyframe took all of the rate.
    private var lastCost = Duration.zero
    /// The time at which the earlier keyframes are paid for.
    private var paidUntil = MonotonicInstant.zero

    package init() {}

    package mutating func request() { isWanted = true }

    /// Returns the earliest time of the next keyframe.
    package func earliest(_ policy: Policy) -> MonotonicInstant {
        guard let last else { return .zero }
        let due = allPaid(policy, since: last) - policy.saving
        return min(max(due, last + policy.minimumInterval), last + policy.longestWait)
    }

    private func allPaid(_ policy: Policy, since last: MonotonicInstant) -> MonotonicInstant {
        max(last, paidUntil) + lastCost / max(policy.share, 0.001)
    }

    /// Returns true if the next frame must be a keyframe.
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
