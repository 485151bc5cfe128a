import MediaCore

/// The capture times of the last sent pictures, by their RTP timestamps. The number is fixed.
struct SentPictures {
    private static let capacity = 256

    private var pictures: [(timestamp: UInt32, time: MonotonicInstant)] = []
    private var next = 0

    init() { pictures.reserveCapacity(Self.capacity) }

    mutating func add(timestamp: UInt32, time: MonotonicInstant) {
        if pictures.count < Self.capacity {
            pictures.append((timestamp, time))
        } else {
            pictures[next] = (timestamp, time)
        }
        next = (next + 1) % Self.capacity
    }

    func time(of timestamp: UInt32) -> MonotonicInstant? { pictures.first { $0.timestamp == timestamp }?.time }
}
