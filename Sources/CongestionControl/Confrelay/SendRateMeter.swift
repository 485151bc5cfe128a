import MediaCore
import NIOCore

/// The rate of the last while.
struct SendRateMeter: Sendable {
    /// The window: some frames, so that one small frame is no pause.
    static let window = Duration.milliseconds(200)

    private var packets = CircularBuffer<(time: MonotonicInstant, size: DataSize)>()
    private var size = DataSize.zero

    mutating func add(_ packet: DataSize, now: MonotonicInstant) {
        packets.append((now, packet))
        size += packet
        forget(now: now)
    }

    mutating func rate(now: MonotonicInstant) -> BitRate {
        forget(now: now)
        return BitRate(size, over: Self.window)
    }

    private mutating func forget(now: MonotonicInstant) {
        while let first = packets.first, now - first.time > Self.window {
            size -= first.size
            packets.removeFirst()
        }
    }
}
