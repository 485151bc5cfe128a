/// Allocates a relay's job queues. It belongs to the relay's loop.
final class JobQueueAllocator {
    private var last: UInt64 = 0

    func next() -> JobQueueID {
        last += 1
        return JobQueueID(rawValue: last)
    }
}
