import MediaCore

/// Bounds how many RTP and RTCP packets one endpoint may have the relay take, each in packets and bytes a second, and
/// how many connectivity checks.
///
/// Only packets that authenticated are charged: a sender that forges a member's address cannot use up its share. A
/// member over its limit loses packets before they are decrypted, as on a path that carries no more.
struct ReceiveLimiter {
    /// A camera and a screen together: about 50 Mbit/s, and a second of it at once. Keyframes come as bursts.
    private var media = Limits(packets: (rate: 6000, burst: 6000), bytes: (rate: 6_250_000, burst: 6_250_000))
    /// Feedback with every frame of several streams is some 100 packets a second; the rest is for losses.
    private var control = Limits(packets: (rate: 500, burst: 1000), bytes: (rate: 250_000, burst: 500_000))

    /// An agent begins at most 50 checks a second for each of its addresses, or checks all its pairs a few times a
    /// second, until one is chosen.
    private var checks = TokenBucket(rate: 200, capacity: 400)

    /// A link to another relay is taken as much as this number of members at most, about 400 Mbit/s.
    private static let mostShares = 8

    private struct Limits {
        typealias Limit = (rate: Double, burst: Double)

        private let single: (packets: Limit, bytes: Limit)
        private var shares = 1
        private var packets: TokenBucket
        private var bytes: TokenBucket

        init(packets: Limit, bytes: Limit) {
            single = (packets, bytes)
            self.packets = TokenBucket(rate: packets.rate, capacity: packets.burst)
            self.bytes = TokenBucket(rate: bytes.rate, capacity: bytes.burst)
        }

        mutating func setShares(_ shares: Int, now: MonotonicInstant) {
            guard shares != self.shares else { return }
            self.shares = shares
            let factor = Double(shares)
            packets.setRate(single.packets.rate * factor, capacity: single.packets.burst * factor, now: now)
            bytes.setRate(single.bytes.rate * factor, capacity: single.bytes.burst * factor, now: now)
        }

        mutating func hasRoom(_ size: DataSize, now: MonotonicInstant) -> Bool {
            packets.refill(now: now)
            bytes.refill(now: now)
            return packets.tokens >= 1 && bytes.tokens >= Double(size.bytes)
        }

        mutating func charge(_ size: DataSize, now: MonotonicInstant) {
            _ = packets.take(now: now)
            _ = bytes.take(Double(size.bytes), now: now)
        }
    }

    /// Sets how many members' packets come, and to how many their reports refer. One more share is for padding and
    /// repeated packets.
    mutating func setSenders(_ senders: Int, reportedOn: Int, now: MonotonicInstant) {
        media.setShares(min(senders + 1, Self.mostShares), now: now)
        control.setShares(min(senders + reportedOn + 1, Self.mostShares), now: now)
    }

    /// Returns true if a packet may be decrypted now.
    mutating func hasRoom(_ size: DataSize, isControl: Bool, now: MonotonicInstant) -> Bool {
        isControl ? control.hasRoom(size, now: now) : media.hasRoom(size, now: now)
    }

    /// A packet has authenticated.
    mutating func charge(_ size: DataSize, isControl: Bool, now: MonotonicInstant) {
        if isControl { control.charge(size, now: now) } else { media.charge(size, now: now) }
    }

    /// Returns true if the signature of a check may be examined now.
    mutating func hasRoomForCheck(now: MonotonicInstant) -> Bool { checks.isAvailable(now: now) }

    /// A check has authenticated.
    mutating func chargeCheck(now: MonotonicInstant) { _ = checks.take(now: now) }
}
