import MediaCore
import NIOCore

/// Packets sent without feedback yet, in sending order.
struct PacketsInFlight: Sendable {
    struct Packet: Sendable {
        var sequence: Int64
        /// The size in bytes.
        var size: Double
        /// The send time on the sender's clock.
        var sendTime: MonotonicInstant
    }

    private var packets = CircularBuffer<Packet>()
    /// The size in bytes.
    private(set) var size = 0.0

    var oldest: Packet? { packets.first }
    var isEmpty: Bool { packets.isEmpty }

    mutating func append(_ packet: SentPacket) {
        // A receiver that never answers must not make this grow without end.
        if packets.count >= TransportFeedbackAdapter.maximumPacketCount { removeFirst() }
        packets.append(
            Packet(
                sequence: packet.transportSequence, size: Double(packet.size.bytes), sendTime: packet.sendTime))
        size += Double(packet.size.bytes)
    }

    /// Removes the packets up to this one, which feedback has covered.
    mutating func remove(upTo sequence: Int64) {
        while let first = packets.first, first.sequence <= sequence { removeFirst() }
    }

    private mutating func removeFirst() {
        guard let first = packets.popFirst() else { return }
        size = packets.isEmpty ? 0 : size - first.size
    }

    /// The time at which the link will have delivered all of them, on the receiver's clock in seconds.
    ///
    /// - Parameters:
    ///   - lastArrival: The arrival of the newest packet with feedback.
    ///   - silentUntil: The time until which the oldest of them is known not to have arrived.
    ///   - baseDelay: The one-way delay without a queue, in seconds.
    ///   - rate: The rate of the link, in bytes per second.
    func lastDelivery(lastArrival: Double, silentUntil: Double, baseDelay: Double, rate: Double) -> Double {
        var time = lastArrival
        var isOldest = true
        for packet in packets {
            time = max(time, packet.sendTime.seconds + baseDelay) + packet.size / rate
            if isOldest { time = max(time, silentUntil) }
            isOldest = false
        }
        return time
    }
}

extension MonotonicInstant {
    /// Seconds since the clock's origin.
    var seconds: Double { Double(nanoseconds) / 1e9 }
}
