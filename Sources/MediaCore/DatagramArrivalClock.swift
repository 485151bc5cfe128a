import Glibc

/// Returns the time at which the kernel received the datagram that was last read from a socket (`SIOCGSTAMPNS`,
/// socket(7)), on `SystemMediaClock`.
///
/// Congestion control measures the spacing of packets. The time of reading would show the load of the reader: a loop
/// that was blocked for 20 ms finds all packets at once, as if the network had stood still.
public struct DatagramArrivalClock: Sendable {
    private let descriptor: CInt
    private var last = MonotonicInstant.zero

    /// `SIOCGSTAMPNS` with the structure of 64-bit systems (linux/sockios.h).
    private static let request: UInt = 0x8907
    /// A datagram that waited longer than this was not read late: the wall clock was set.
    private static let longestWait = Duration.seconds(1)

    /// - Parameter descriptor: A datagram socket; it is not owned. The kernel stamps datagrams after the first call.
    public init(descriptor: CInt) {
        self.descriptor = descriptor
        _ = waited()
    }

    /// Returns the arrival of the datagram that was just read; call it before another is read. It is `now` if the
    /// system does not report it, and never before that of a datagram read earlier.
    public mutating func arrival(now: MonotonicInstant) -> MonotonicInstant {
        // The present is read after the wall clock: a thread that is held up between the two finds a datagram late. An
        // early one would count as proof of a shorter path.
        let told = waited().map { SystemMediaClock.shared.now - $0 } ?? now
        last = max(min(told, now), last)
        return last
    }

    private func waited() -> Duration? {
        #if os(Linux)
            var stamp = timespec()
            guard ioctl(descriptor, Self.request, &stamp) == 0 else { return nil }
            var wallClock = timespec()
            guard clock_gettime(CLOCK_REALTIME, &wallClock) == 0 else { return nil }
            let waited =
                Duration.seconds(wallClock.tv_sec - stamp.tv_sec) + .nanoseconds(wallClock.tv_nsec - stamp.tv_nsec)
            return waited >= .zero && waited <= Self.longestWait ? waited : nil
        #else
            return nil
        #endif
    }
}
