import CongestionControl
public import MediaCore

/// What a recording tells of the network's path: when each packet entered it and when it left, on the sender's clock.
///
/// The receiver's clock has another origin and may drift. The least difference between the clocks within 15 s of a
/// packet stands for an empty queue; what a packet took longer is its queueing delay. A queue that never empties for
/// half a minute is taken for distance.
public struct FlightPath: Sendable {
    /// A packet that arrived.
    public struct Packet: Hashable, Sendable {
        /// Time since the recording's start.
        public var entered: Duration
        /// When it left the queue: without the propagation delay.
        public var left: Duration
        public var size: DataSize

        public var queueingDelay: Duration { left - entered }
    }

    /// In the order in which they left.
    public let packets: [Packet]

    /// How far around a packet the empty queue is looked for.
    static let window = 15
    /// What is later is no queue but nonsense.
    private static let longestDelay = Duration.seconds(60)

    /// Arrivals as they are reported.
    struct Arrival {
        var sendTime: MonotonicInstant
        var receiveTime: MonotonicInstant
        var size: DataSize

        var transit: Duration { receiveTime - sendTime }
    }

    init(arrivals: [Arrival], start: MonotonicInstant, packetOverhead: DataSize) {
        // The least transit time of each second, and then of the seconds around.
        var least: [Duration?] = []
        func second(_ arrival: Arrival) -> Int { Int(max(0, (arrival.sendTime - start).nanoseconds) / 1_000_000_000) }
        for arrival in arrivals {
            let index = second(arrival)
            while least.count <= index { least.append(nil) }
            least[index] = min(least[index] ?? arrival.transit, arrival.transit)
        }
        let empty = least.indices.map { index in
            least[max(0, index - Self.window)...min(least.count - 1, index + Self.window)].compactMap { $0 }.min()
        }
        var packets: [Packet] = []
        packets.reserveCapacity(arrivals.count)
        for arrival in arrivals {
            guard let base = empty[second(arrival)] else { continue }
            let delay = arrival.transit - base
            guard delay <= Self.longestDelay else { continue }
            let entered = arrival.sendTime - start
            packets.append(
                Packet(entered: entered, left: entered + delay, size: arrival.size + packetOverhead))
        }
        self.packets = packets.sorted { ($0.left, $0.entered) < ($1.left, $1.entered) }
    }
}
