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

    /// Begins with a packet of a keyframe, which may have overtaken the first one; nil for any other.
    ///
    /// - Parameter former: The collector of the keyframe before. It may have packets of this keyframe, such as
    ///   parameter sets in packets of their own.
    init?(_ packet: ForwardedPacket, after former: KeyframeCollector?, now: MonotonicInstant) {
        guard packet.peek.hasParameterSets || packet.peek.isIDR else { return nil }
        timestamp = packet.packet.timestamp
        began = now
        packets = [packet]
        first = packet
        if packet.packet.marker { last = packet.sequence }
        for earlier in former?.packets ?? [] where earlier.packet.timestamp == timestamp { add(earlier) }
    }

    mutating func add(_ packet: ForwardedPacket) {
        packets.append(packet)
        guard packet.packet.timestamp == timestamp else { return }
        if packet.sequence < first.sequence { first = packet }
        if packet.packet.marker { last = packet.sequence }
    }

    /// Returns true if a packet belongs to the keyframe or follows it.
    func takes(_ packet: ForwardedPacket) -> Bool {
        packet.packet.timestamp == timestamp || packet.sequence > first.sequence
    }

    var isWhole: Bool {
        guard let last else { return false }
        // Padding behind the last packet has the keyframe's timestamp, too.
        let count = packets.count { $0.packet.timestamp == timestamp && $0.sequence <= last }
        return last - first.sequence + 1 == Int64(count) && isKeyframe
    }

    /// True if the frame is a keyframe. Parameter sets may come alone.
    private var isKeyframe: Bool {
        packets.contains { $0.packet.timestamp == timestamp && $0.peek.isIDR }
            && packets.contains { $0.packet.timestamp == timestamp && $0.peek.beginsPicture }
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
