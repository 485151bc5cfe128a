import CMalloc
import MediaCore

/// Gives memory back to the system after rooms have ended.
///
/// The C library keeps freed memory for later, page by page wherever a small allocation holds the end of its heap. A
/// relay that once was full would stay as large for ever.
struct ProcessMemory {
    /// Jobs and sockets let go of a room's last buffers some time after the room has ended.
    private static let delay = Duration.seconds(2)
    /// Allocations wait while memory is returned: that is to be rare.
    private static let interval = Duration.seconds(20)
    /// Less is not worth it.
    private static let worthwhile = DataSize(bytes: 16 << 20)

    /// When memory was last returned, or will be.
    private var time: MonotonicInstant?

    /// A room has ended. Returns how long to wait before memory is returned; nil if a return is due already.
    mutating func roomEnded(now: MonotonicInstant) -> Duration? {
        let earliest = now + Self.delay
        guard let last = time else {
            time = earliest
            return Self.delay
        }
        guard last <= now else { return nil }
        let next = max(earliest, last + Self.interval)
        time = next
        return next - now
    }

    /// Returns free memory to the system. It takes milliseconds: not on the relay's loop.
    static func returnFree() {
        guard DataSize(bytes: Int(clamping: mallinfo2().fordblks)) >= worthwhile else { return }
        malloc_trim(0)
    }
}
