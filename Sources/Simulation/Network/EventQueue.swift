public import MediaCore

/// A queue of events, ordered by time. Events of the same time are ordered by rank, and then by the order in which they
/// were scheduled.
public struct EventQueue<Event> {
    fileprivate struct Entry {
        var time: MonotonicInstant
        var order: UInt64
        var event: Event

        func precedes(_ other: Entry) -> Bool {
            time == other.time ? order < other.order : time < other.time
        }
    }

    /// A binary heap with the next event first.
    private var heap: [Entry] = []
    private var scheduledCount: UInt64 = 0

    public init() {}

    /// The time of the next event; nil if there is none.
    public var nextTime: MonotonicInstant? { heap.first?.time }

    public var count: Int { heap.count }

    /// Schedules an event. Of several events at the same time, the one with the lowest `rank` comes first.
    public mutating func schedule(_ event: Event, at time: MonotonicInstant, rank: UInt8 = 0) {
        let entry = Entry(time: time, order: UInt64(rank) << 56 | scheduledCount, event: event)
        heap.append(entry)
        scheduledCount += 1
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entry.precedes(heap[parent]) else { break }
            heap[child] = heap[parent]
            child = parent
        }
        heap[child] = entry
    }

    /// Removes and returns the next event that is due at `now`; nil if there is none.
    public mutating func popDue(now: MonotonicInstant) -> Event? {
        guard let first = heap.first, first.time <= now else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            var parent = 0
            while true {
                var child = 2 * parent + 1
                guard child < heap.count else { break }
                if child + 1 < heap.count, heap[child + 1].precedes(heap[child]) { child += 1 }
                guard heap[child].precedes(last) else { break }
                heap[parent] = heap[child]
                parent = child
            }
            heap[parent] = last
        }
        return first.event
    }
}

extension EventQueue: Sendable where Event: Sendable {}
extension EventQueue.Entry: Sendable where Event: Sendable {}
