import CongestionControl
import MediaCore

/// How long a link that carries just an encoder's rate has to do with what was encoded.
///
/// The encoder of a group waits until that is little, as one with a single receiver waits for that receiver's link. So
/// a picture that costs much takes frames from everybody alike, and members who carry the group's rate are not made to
/// wait for a keyframe by what no member's network is the reason for.
struct EncodedQueue {
    private var emptyAt = MonotonicInstant.zero

    func hasRoom(now: MonotonicInstant) -> Bool { emptyAt - now <= LatencyBudget.beforeFrame }

    mutating func add(_ size: DataSize, rate: BitRate, now: MonotonicInstant) {
        emptyAt = max(emptyAt, now) + rate.duration(for: size)
    }
}
