import H264
import NIOCore
import RTP

/// Finds a whole frame behind a gap with which decoding can begin. Nobody needs the packets that are missing before it,
/// and waiting for them would only delay it.
struct WaitingStart {
    /// The packets in whole frames that may be looked at behind a gap: at first, and more with each packet that comes.
    /// A hostile sender's frame may seem whole with each packet, and get longer.
    private static let allowance = (first: 512, each: 4)

    /// The timestamp of a frame that may be one.
    private var timestamp: UInt32?
    /// The number of packets that may still be looked at.
    private var allowance = Self.allowance.first

    /// Gives up everything before the frame of a packet that was inserted, if the frame is whole and can begin.
    mutating func skip(to packet: RTPPacket, in buffer: inout JitterBuffer, ifBegins canBegin: (AccessUnit) -> Bool) {
        guard buffer.isBlocked else {
            allowance = Self.allowance.first
            return
        }
        allowance += Self.allowance.each
        if packet.timestamp != timestamp {
            let peek = H264PayloadPeek(packet.payload)
            guard peek.isIDR || peek.hasParameterSets || Self.hasMessages(packet.payload) else { return }
            timestamp = packet.timestamp
        }
        guard let frame = buffer.waitingFrame(with: packet.sequenceNumber, atMost: allowance) else { return }
        allowance -= frame.count
        guard let unit = Self.accessUnit(of: frame), canBegin(unit) else { return }
        buffer.skip(to: frame[0].sequence)
    }

    /// True if messages (SEI) are the first unit in a payload.
    private static func hasMessages(_ payload: ByteBuffer) -> Bool {
        guard let unit = NALUnit(payload) else { return false }
        guard unit.type == .aggregationSTAPA else { return unit.type == .sei }
        // Behind the header and a size of two bytes.
        return payload.getInteger(at: payload.readerIndex + 3, as: UInt8.self).map { $0 & 0x1F }
            == NALUnitType.sei.rawValue
    }

    /// Returns the access unit if it shows by itself that nothing of it is missing.
    private static func accessUnit(of frame: [ReceivedPacket]) -> AccessUnit? {
        var depacketizer = H264Depacketizer()
        // The next payload follows a loss.
        _ = depacketizer.append(payload: ByteBuffer(), timestamp: 0, marker: false, sequence: frame[0].sequence - 2)
        for received in frame {
            let units = depacketizer.append(
                payload: received.packet.payload, timestamp: received.packet.timestamp, marker: received.packet.marker,
                sequence: received.sequence)
            if let unit = units.first { return unit.isDamaged ? nil : unit }
        }
        return nil
    }
}
