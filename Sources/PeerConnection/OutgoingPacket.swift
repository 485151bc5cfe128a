import MediaCore
import NIOCore
import RTP

/// A packet in the pacer.
enum OutgoingPacket {
    /// A media packet, numbered for feedback and protected when it leaves. The first one of a picture has the picture's
    /// waits.
    case media(RTPPacket, line: MediaLine, beginning: PictureLedger?)
    /// One that another sender made, rewritten; it came at `arrival`.
    case forwarded(NumberedPacket, line: MediaLine, arrival: MonotonicInstant)
    /// A packet of the stream of retransmissions (RFC 4588), treated like one of media.
    case retransmission(RTPPacket, line: MediaLine)
    /// The bytes of an earlier packet once more.
    case repetition(ByteBuffer, line: MediaLine)
    /// A packet of forward error correction, treated like one of media.
    case repair(RTPPacket, line: MediaLine)

    /// The packet, if another sender made it and it is to leave on this line.
    func forwarded(on line: MediaLine) -> NumberedPacket? {
        guard case .forwarded(let numbered, let owner, _) = self, owner === line else { return nil }
        return numbered
    }

    /// A packet's size in the pacer: its payload and, about, its headers.
    static func size(of packet: RTPPacket) -> DataSize {
        DataSize(bytes: packet.payload.readableBytes) + PeerConfiguration.packetOverhead
    }
}
