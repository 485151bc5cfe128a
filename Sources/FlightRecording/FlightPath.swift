public import MediaCore

/// The network's path as a recording reveals it: the times at which each packet entered and left it, on the sender's
/// clock.
///
/// The receiver's clock has another origin and may drift. The smallest difference between the clocks within 15 s of a
/// packet stands for an empty queue; the excess over it is the packet's queueing delay. A queue that does not empty for
/// half a minute is therefore taken for propagation delay.
public struct FlightPath: Sendable {
    public struct Packet: Hashable, Sendable {
        /// The time since the recording's start at which the packet was sent.
        public var entered: Duration
        /// The time at which the packet left the queue, without the propagation delay.
        public var left: Duration
        public var size: DataSize

        public var queueingDelay: Duration { left - entered }
    }

    /// The packets in the order in which they left.
    public let packets: [Packet]

    /// The seconds before and after a packet in which the empty queue is searched.
    static let window = 15
    /// The longest delay that is plausible for a queue.
    private static let longestDelay = Duration.seconds(60)

    /// An arrival as feedback reports it.
    struct Arrival {
        var sendTime: MonotonicInstant
        var receiveTime: MonotonicInstant
        var size: DataSize

        var transit: Duration { receiveTime - sendTime }
    }

    init(arrivals: [Arrival], start: MonotonicInstant, packetOverhead: DataSize) {
        // First the smallest transit time of each second, then the smallest of the seconds around it.
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
