import CMalloc
package import MediaCore

/// Returns memory to the system after rooms and other large work have ended.
///
/// The C library keeps freed memory for later, and a small allocation at the end of its heap holds all of it. Without
/// this, a relay that was full once would stay large for ever.
package struct ProcessMemory {
    /// The time after a room's end by which jobs and sockets have released its last buffers.
    private static let delay = Duration.seconds(2)
    /// Allocations wait while memory is returned, so this must be rare.
    private static let interval = Duration.seconds(20)
    /// The least memory for which it is done.
    private static let worthwhile = DataSize(bytes: 16 << 20)

    /// The last or next time of returning memory.
    private var time: MonotonicInstant?

    package init() {}

    /// Has the C library return large blocks, and the ends of its heaps, when they are freed.
    ///
    /// It would raise both limits with the largest block that was ever freed, up to 32 and 64 MiB. Each of its heaps,
    /// of which there may be eight for each core, would keep that much: `malloc_trim` leaves their ends.
    package static func returnAtOnce() {
        mallopt(M_MMAP_THRESHOLD, 128 << 10)
        mallopt(M_TRIM_THRESHOLD, 128 << 10)
    }

    /// A room has ended. Returns how long to wait before memory is returned; nil if a return is due that comes late
    /// enough for this room's memory.
    package mutating func roomEnded(now: MonotonicInstant) -> Duration? {
        let earliest = now + Self.delay
        guard let last = time else {
            time = earliest
            return Self.delay
        }
        guard last < earliest else { return nil }
        let next = max(earliest, last + Self.interval)
        time = next
        return next - now
    }

    /// The freed memory that the C library keeps.
    static var free: DataSize { DataSize(bytes: Int(clamping: free_heap_bytes())) }

    /// Returns free memory to the system. It takes milliseconds: do not call it on the relay's loop.
    package static func returnFree() {
        guard free >= worthwhile else { return }
        malloc_trim(0)
    }
}
