import H264
import MediaCore
import NIOCore
import RTP

/// A stream of video on its way out, by the code of the relay: H.264 payloads, numbers, and the packets sent last, which
/// are sent again when the receiver misses them.
struct SentVideoStream: Sendable {
    /// A packet as it goes out.
    struct Datagram: Sendable {
        var bytes: ByteBuffer
        var sequenceNumber: UInt16
        var isLastOfFrame: Bool

        /// Its size on the wire.
        var size: DataSize { DataSize(bytes: bytes.readableBytes + SentVideoStream.trailerSize) }
    }

    /// What a packet has on the wire and not here: the header extension with its transport-wide number, and the
    /// authentication tag of SRTP.
    private static let trailerSize = 18
    /// What a packet has beside its payload.
    static let packetOverhead = DataSize(bytes: RTPPacket.fixedHeaderSize + trailerSize)
    private static let payloadType: UInt8 = 96
    private static let ssrc: UInt32 = 2
    private static let historyCount = 1024

    private let packetizer: H264Packetizer
    private var sequenceNumber: UInt16 = 0
    private var history = PacketHistory(maximumPacketCount: historyCount)
    /// The transport-wide numbers of the packets of the history, which they keep when they are sent again: the relay
    /// sends the identical bytes.
    private var transportSequences = [Int64](repeating: 0, count: historyCount)

    init(packetSize: DataSize) {
        packetizer = H264Packetizer(
            mode: .nonInterleaved, maximumPayloadSize: packetSize.bytes - Self.packetOverhead.bytes)
    }

    /// The packets of a frame. Its number stands for its RTP timestamp.
    mutating func packetize(_ units: [NALUnit], frame: Int) -> [Datagram] {
        let payloads = packetizer.packetize(units)
        return payloads.indices.map { index in
            makeDatagram(payloads[index], frame: frame, isLastOfFrame: index == payloads.count - 1)
        }
    }

    /// A packet without payload, which takes a number of the stream as the relay's padding does.
    mutating func makePadding(frame: Int) -> Datagram {
        makeDatagram(ByteBuffer(), frame: frame, isLastOfFrame: false, paddingLength: .max)
    }

    private mutating func makeDatagram(
        _ payload: ByteBuffer, frame: Int, isLastOfFrame: Bool, paddingLength: UInt8 = 0
    ) -> Datagram {
        let packet = RTPPacket(
            payloadType: Self.payloadType, marker: isLastOfFrame, sequenceNumber: sequenceNumber,
            timestamp: UInt32(truncatingIfNeeded: frame), ssrc: Self.ssrc, payload: payload,
            paddingLength: paddingLength)
        sequenceNumber &+= 1
        return Datagram(
            bytes: packet.encode(), sequenceNumber: packet.sequenceNumber, isLastOfFrame: isLastOfFrame)
    }

    /// Keeps a packet that leaves now.
    mutating func sent(_ datagram: Datagram, transportSequence: Int64, now: MonotonicInstant) {
        history.store(datagram.bytes, sequenceNumber: datagram.sequenceNumber, now: now)
        transportSequences[Int(datagram.sequenceNumber) % Self.historyCount] = transportSequence
    }

    /// The packet to send again, and its transport-wide number; nil where the history has none to give.
    mutating func repeated(
        _ sequenceNumber: UInt16, roundTripTime: Duration, now: MonotonicInstant
    ) -> (datagram: Datagram, transportSequence: Int64)? {
        guard let bytes = history.packet(sequenceNumber, roundTripTime: roundTripTime, now: now) else { return nil }
        return (
            Datagram(bytes: bytes, sequenceNumber: sequenceNumber, isLastOfFrame: false),
            transportSequences[Int(sequenceNumber) % Self.historyCount]
        )
    }
}
