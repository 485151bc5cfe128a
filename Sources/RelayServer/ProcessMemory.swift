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

    private var isPending = false
    private var last: MonotonicInstant?

    /// A room has ended. Returns how long to wait before memory is returned; nil where somebody waits already.
    mutating func roomEnded(now: MonotonicInstant) -> Duration? {
        guard !isPending else { return nil }
        isPending = true
        let time = max(now + Self.delay, last.map { $0 + Self.interval } ?? now)
        last = time
        return time - now
    }

    /// Memory is returned now: the next room that ends counts again.
    mutating func begin() { isPending = false }

    /// Returns free memory to the system. It takes milliseconds: not on the relay's loop.
    static func returnFree() {
        guard DataSize(bytes: Int(clamping: mallinfo2().fordblks)) >= worthwhile else { return }
        malloc_trim(0)
    }
}
