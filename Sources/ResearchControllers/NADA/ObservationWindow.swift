import CongestionControl
import MediaCore
import NIOCore
import RTP

/// The packets that arrived in the last half second, and the figures of RFC 8698, section 5.1. The sender computes them
/// from reports on each packet.
struct ObservationWindow: Sendable {
    struct Packet: Sendable {
        var sequence: Int64
        var sendTime: MonotonicInstant
        var receiveTime: MonotonicInstant
        var size: Int
        var isMarked: Bool
        /// The time from sending to the report.
        var roundTrip: Duration

        /// The difference of two clocks: only changes of it have a meaning.
        var oneWayDelay: Duration { receiveTime - sendTime }
    }

    /// The least number of packets for which ratios and rates are meaningful.
    static let minimumCount = 5
    /// The longest time without arrivals. After it, all knowledge of the path is discarded.
    static let maximumGap = Duration.milliseconds(500)

    private let length: Duration
    private let filterLength: Int
    private var packets = CircularBuffer<Packet>()
    private var size = 0
    private var markedCount = 0
    private(set) var lossIntervals = LossIntervals()
    /// The shortest one-way delay since the path has been known (d_base).
    private var baseDelay: Duration?

    init(length: Duration, filterLength: Int) {
        self.length = length
        self.filterLength = max(filterLength, 1)
    }

    mutating func add(_ result: PacketResult, reportedAt now: MonotonicInstant) {
        guard let receiveTime = result.receiveTime else { return }
        let packet = Packet(
            sequence: result.sent.transportSequence, sendTime: result.sent.sendTime, receiveTime: receiveTime,
            size: result.sent.size.bytes, isMarked: result.ecn == .congestionExperienced,
            roundTrip: now - result.sent.sendTime)
        if let last = packets.last {
            guard packet.sequence > last.sequence else { return insertLate(packet) }
            if packet.sendTime - last.sendTime > Self.maximumGap {
                self = Self(length: length, filterLength: filterLength)
            }
        }
        baseDelay = min(baseDelay ?? packet.oneWayDelay, packet.oneWayDelay)
        lossIntervals.received(packet.sequence)
        packets.append(packet)
        count(packet, by: 1)
        while let first = packets.first, packet.sendTime - first.sendTime >= length {
            packets.removeFirst()
            count(first, by: -1)
        }
    }

    /// Inserts a packet that others overtook. It no longer counts as a loss.
    private mutating func insertLate(_ packet: Packet) {
        guard let first = packets.first, packet.sequence > first.sequence else { return }
        var index = packets.count - 1
        while index > 0, packets[offset: index].sequence > packet.sequence { index -= 1 }
        guard packets[offset: index].sequence < packet.sequence else { return }
        packets.insert(packet, at: packets.index(packets.startIndex, offsetBy: index + 1))
        count(packet, by: 1)
    }

    private mutating func count(_ packet: Packet, by sign: Int) {
        size += sign * packet.size
        if packet.isMarked { markedCount += sign }
    }

    /// The smallest queueing delay of the last packets (d_queue); nil before the first packet.
    var queueingDelay: Duration? {
        guard let baseDelay else { return nil }
        return packets.suffix(filterLength).lazy.map(\.oneWayDelay).min().map { $0 - baseDelay }
    }

    /// The shortest round trip of the last packets; nil before the first packet.
    var roundTripTime: Duration? { packets.suffix(filterLength).lazy.map(\.roundTrip).min() }

    /// Returns true if any packet waited in a queue for longer than `threshold`.
    func hasQueue(above threshold: Duration) -> Bool {
        guard let baseDelay else { return false }
        return packets.contains { $0.oneWayDelay - baseDelay > threshold }
    }

    /// The number and the ratio of missing packets between the first and the last; nil if there are too few packets.
    var losses: (count: Int, ratio: Double)? {
        guard packets.count >= Self.minimumCount, let first = packets.first, let last = packets.last else { return nil }
        let span = last.sequence - first.sequence + 1
        let lost = max(span - Int64(packets.count), 0)
        return (Int(lost), Double(lost) / Double(span))
    }

    /// The ratio of packets that arrived marked; nil if there are too few packets.
    var markingRatio: Double? {
        packets.count >= Self.minimumCount ? Double(markedCount) / Double(packets.count) : nil
    }

    /// The rate at which packets arrived (r_recv); nil if there are too few packets, or if all arrived at once.
    var receivingRate: BitRate? {
        guard packets.count >= Self.minimumCount, let first = packets.first, let last = packets.last,
            last.receiveTime > first.receiveTime
        else { return nil }
        return BitRate(DataSize(bytes: size - first.size), over: last.receiveTime - first.receiveTime)
    }
}
