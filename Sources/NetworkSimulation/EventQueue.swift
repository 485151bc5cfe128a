public import MediaCore

/// Events in the order of their time; those of one time in the order in which they were scheduled.
public struct EventQueue<Event> {
    fileprivate struct Entry {
        var time: MonotonicInstant
        var order: UInt64
        var event: Event

        func precedes(_ other: Entry) -> Bool {
            (time, order) < (other.time, other.order)
        }
    }

    /// A binary heap, the next event first.
    private var heap: [Entry] = []
    private var scheduledCount: UInt64 = 0

    public init() {}

    /// When the next event is; nil without one.
    public var nextTime: MonotonicInstant? { heap.first?.time }

    /// How many events wait.
    public var count: Int { heap.count }

    public mutating func schedule(_ event: Event, at time: MonotonicInstant) {
        heap.append(Entry(time: time, order: scheduledCount, event: event))
        scheduledCount += 1
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].precedes(heap[parent]) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// The next event that is due at `now`; nil when none is.
    public mutating func popDue(now: MonotonicInstant) -> Event? {
        guard let first = heap.first, first.time <= now else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            var parent = 0
            while true {
                var least = parent
                for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                    if heap[child].precedes(heap[least]) { least = child }
                }
                guard least != parent else { break }
                heap.swapAt(parent, least)
                parent = least
            }
        }
        return first.event
    }
}

extension EventQueue: Sendable where Event: Sendable {}
extension EventQueue.Entry: Sendable where Event: Sendable {}
