import MediaCore

/// When the pictures sent last were taken, by their RTP timestamps: of a fixed number.
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
