import MediaCore

/// The arrivals of the packets of the latest frames, by RTP timestamp, in a ring of fixed size.
struct FrameArrivals {
    private struct Entry {
        var timestamp: UInt32
        var first: MonotonicInstant
        var last: MonotonicInstant
    }

    private var entries = [Entry?](repeating: nil, count: 32)
    /// The place of the last packet's frame.
    private var current = 0
    private var next = 0

    mutating func record(timestamp: UInt32, arrival: MonotonicInstant) {
        if entries[current]?.timestamp != timestamp {
            guard let known = entries.firstIndex(where: { $0?.timestamp == timestamp }) else {
                entries[next] = Entry(timestamp: timestamp, first: arrival, last: arrival)
                current = next
                next = (next + 1) % entries.count
                return
            }
            current = known
        }
        entries[current]?.last = arrival
    }

    func arrival(timestamp: UInt32) -> (first: MonotonicInstant, last: MonotonicInstant)? {
        entries.first { $0?.timestamp == timestamp }?.map { ($0.first, $0.last) }
    }
}
