import H264
import MediaCore
import NIOCore
import PeerConnection
import RTP

/// Collects a source's packets from the start of a keyframe until the keyframe is complete. Receivers that wait for it
/// keep their present frames until then, and none ends up with half a picture.
struct KeyframeCollector {
    /// The time after which an incomplete keyframe is abandoned: the next one will be complete.
    private static let patience = Duration.seconds(1)
    private static let capacity = 2048

    private let timestamp: UInt32
    private let began: MonotonicInstant
    private(set) var packets: [ForwardedPacket]
    private var first: ForwardedPacket
    private var last: Int64?
    /// The sequence numbers of the keyframe's packets. Kept as ranges, because a sender could otherwise have thousands
    /// of packets counted at each packet.
    private var received = RangeSet<Int64>()
    /// True if a slice of an IDR picture is among the packets. Parameter sets may come alone.
    private var hasIDR = false
    /// True if the first slice of the picture is among the packets.
    private var hasBeginning = false

    /// Begins with a packet of a keyframe, which may have overtaken the first one; nil for any other.
    ///
    /// - Parameter former: The collector of the keyframe before. It may have packets of this keyframe, such as
    ///   parameter sets in packets of their own.
    init?(_ packet: ForwardedPacket, after former: KeyframeCollector?, now: MonotonicInstant) {
        guard packet.peek.hasParameterSets || packet.peek.isIDR else { return nil }
        timestamp = packet.packet.timestamp
        began = now
        packets = []
        first = packet
        add(packet)
        for earlier in former?.packets ?? [] where earlier.packet.timestamp == timestamp { add(earlier) }
    }

    mutating func add(_ packet: ForwardedPacket) {
        packets.append(packet)
        guard packet.packet.timestamp == timestamp else { return }
        if packet.sequence < first.sequence { first = packet }
        if packet.packet.marker { last = packet.sequence }
        received.insert(contentsOf: packet.sequence..<packet.sequence + 1)
        hasIDR = hasIDR || packet.peek.isIDR
        hasBeginning = hasBeginning || packet.peek.beginsPicture
    }

    /// Returns true if a packet belongs to the keyframe or follows it.
    func takes(_ packet: ForwardedPacket) -> Bool {
        packet.packet.timestamp == timestamp || packet.sequence > first.sequence
    }

    /// True if all packets from the first to the last are there. Padding behind the last one has the keyframe's
    /// timestamp, too.
    var isWhole: Bool {
        guard let last, hasIDR, hasBeginning else { return false }
        return received.ranges.first?.contains(last) ?? false
    }

    func isGivenUp(now: MonotonicInstant) -> Bool {
        now - began > Self.patience || packets.count > Self.capacity
    }

    /// Returns true if it is better to wait for a newer keyframe.
    func isReplaced(by packet: ForwardedPacket) -> Bool {
        packet.packet.timestamp != timestamp && packet.peek.isIDR && packet.sequence > first.sequence
    }

    /// The packets, in the sender's order.
    func collected() -> CollectedKeyframe {
        let sent = packets.sorted { $0.sequence < $1.sequence }.filter { $0.sequence >= first.sequence }
        return CollectedKeyframe(
            packets: sent,
            hasParameterSets: sent.contains { $0.packet.timestamp == timestamp && $0.peek.hasParameterSets },
            size: DataSize(
                bytes: sent.reduce(0) {
                    $0 + $1.packet.payload.readableBytes + PeerConfiguration.packetOverhead.bytes
                }))
    }
}

/// A complete keyframe with the packets after it.
struct CollectedKeyframe {
    var packets: [ForwardedPacket]
    /// True if the parameter sets are among its packets.
    var hasParameterSets: Bool
    /// The size of all packets, with their headers.
    var size: DataSize
}
