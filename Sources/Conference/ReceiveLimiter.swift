import MediaCore

/// Bounds how many RTP and RTCP packets one member may have the relay take, each in packets and bytes a second.
///
/// Only packets that authenticated are charged: a sender that forges a member's address cannot use up its share. A
/// member over its limit loses packets before they are decrypted, as on a path that carries no more.
struct ReceiveLimiter {
    /// A camera and a screen together: about 50 Mbit/s, and a second of it at once. Keyframes come as bursts.
    private var media: Limits
    /// Feedback with every frame of several streams is some 100 packets a second; the rest is for losses.
    private var control: Limits

    private struct Limits {
        var packets: TokenBucket
        var bytes: TokenBucket
    }

    init(now: MonotonicInstant) {
        media = Limits(
            packets: TokenBucket(rate: 6000, capacity: 6000, now: now),
            bytes: TokenBucket(rate: 6_250_000, capacity: 6_250_000, now: now))
        control = Limits(
            packets: TokenBucket(rate: 500, capacity: 1000, now: now),
            bytes: TokenBucket(rate: 250_000, capacity: 500_000, now: now))
    }

    /// Returns true if a packet may be decrypted now.
    mutating func hasRoom(_ size: DataSize, isControl: Bool, now: MonotonicInstant) -> Bool {
        isControl ? Self.hasRoom(&control, size, now: now) : Self.hasRoom(&media, size, now: now)
    }

    /// A packet has authenticated.
    mutating func charge(_ size: DataSize, isControl: Bool, now: MonotonicInstant) {
        if isControl { Self.charge(&control, size, now: now) } else { Self.charge(&media, size, now: now) }
    }

    private static func hasRoom(_ limits: inout Limits, _ size: DataSize, now: MonotonicInstant) -> Bool {
        limits.packets.refill(now: now)
        limits.bytes.refill(now: now)
        return limits.packets.tokens >= 1 && limits.bytes.tokens >= Double(size.bytes)
    }

    private static func charge(_ limits: inout Limits, _ size: DataSize, now: MonotonicInstant) {
        _ = limits.packets.take(now: now)
        _ = limits.bytes.take(Double(size.bytes), now: now)
    }
}
