import H264
import MediaCore
import NIOCore
import RTP

/// A stream of video on its way out, by the code of the relay: H.264 payloads, numbers, and the packets sent last, which
/// are sent again when the receiver misses them. Headers are not written: only their size matters here.
///
/// A class, so that looking at it through its flow copies nothing.
final class SentVideoStream {
    /// A packet as it goes out.
    struct Packet: Sendable {
        var payload: ByteBuffer
        var sequenceNumber: UInt16
        var isLastOfFrame: Bool
        /// The frame that it belongs to, which stands for its RTP timestamp.
        var frame: Int

        /// Its size on the wire.
        var size: DataSize {
            let bytes = payload.readableBytes
            return DataSize(bytes: bytes > 0 ? bytes : SentVideoStream.paddingLength) + SentVideoStream.packetOverhead
        }

        /// What the receiver makes of it.
        var received: RTPPacket {
            RTPPacket(
                payloadType: 96, marker: isLastOfFrame, sequenceNumber: sequenceNumber,
                timestamp: UInt32(truncatingIfNeeded: frame), ssrc: 2, payload: payload)
        }
    }

    /// What a packet has on the wire beside its payload: RTP's fixed header, the header extension with the
    /// transport-wide number (8 bytes), and the authentication tag of SRTP (10).
    static let packetOverhead = DataSize(bytes: RTPPacket.fixedHeaderSize + 18)
    /// The most that a packet of padding holds.
    private static let paddingLength = 255
    private static let historyCount = 1024

    /// What the history does not keep of a packet.
    private struct Kept {
        var frame = 0
        var isLastOfFrame = false
        /// A packet that is sent again keeps its transport-wide number: the relay sends the identical bytes.
        var transportSequence: Int64 = 0
    }

    private let packetizer: H264Packetizer
    private var sequenceNumber: UInt16 = 0
    private var history = PacketHistory<ByteBuffer>(maximumPacketCount: historyCount)
    private var kept = [Kept](repeating: Kept(), count: historyCount)

    init(packetSize: DataSize) {
        packetizer = H264Packetizer(
            mode: .nonInterleaved, maximumPayloadSize: packetSize.bytes - Self.packetOverhead.bytes)
    }

    /// The packets of a frame.
    func packetize(_ units: [NALUnit], frame: Int) -> [Packet] {
        let payloads = packetizer.packetize(units)
        return payloads.indices.map { index in
            makePacket(payloads[index], frame: frame, isLastOfFrame: index == payloads.count - 1)
        }
    }

    /// A packet without payload, which takes a number of the stream as the relay's padding does.
    func makePadding(frame: Int) -> Packet {
        makePacket(ByteBuffer(), frame: frame, isLastOfFrame: false)
    }

    private func makePacket(_ payload: ByteBuffer, frame: Int, isLastOfFrame: Bool) -> Packet {
        defer { sequenceNumber &+= 1 }
        return Packet(payload: payload, sequenceNumber: sequenceNumber, isLastOfFrame: isLastOfFrame, frame: frame)
    }

    /// Keeps a packet that leaves now.
    func sent(_ packet: Packet, transportSequence: Int64, now: MonotonicInstant) {
        history.store(packet.payload, sequenceNumber: packet.sequenceNumber, now: now)
        kept[Int(packet.sequenceNumber) % Self.historyCount] = Kept(
            frame: packet.frame, isLastOfFrame: packet.isLastOfFrame, transportSequence: transportSequence)
    }

    /// The packet to send again, and its transport-wide number; nil where the history has none to give.
    func repeated(
        _ sequenceNumber: UInt16, roundTripTime: Duration, now: MonotonicInstant
    ) -> (packet: Packet, transportSequence: Int64)? {
        guard let payload = history.packet(sequenceNumber, roundTripTime: roundTripTime, now: now) else { return nil }
        let rest = kept[Int(sequenceNumber) % Self.historyCount]
        return (
            Packet(
                payload: payload, sequenceNumber: sequenceNumber, isLastOfFrame: rest.isLastOfFrame,
                frame: rest.frame), rest.transportSequence
        )
    }
}
