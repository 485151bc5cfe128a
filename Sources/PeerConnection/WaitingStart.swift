import H264
import NIOCore
import RTP

/// Finds a whole frame behind a gap with which decoding can begin. Nobody needs the packets that are missing before it,
/// and waiting for them would only delay it.
struct WaitingStart {
    /// The most frames behind one gap that are looked at: a hostile sender's may be long, and seem whole with each
    /// packet.
    private static let maximumAttempts = 64

    /// The timestamp of a frame that may be one.
    private var timestamp: UInt32?
    /// The number of whole frames that were looked at since the gap.
    private var attempts = 0

    /// Gives up everything before the frame of a packet that was inserted, if the frame is whole and can begin.
    mutating func skip(to packet: RTPPacket, in buffer: inout JitterBuffer, ifBegins canBegin: (AccessUnit) -> Bool) {
        guard buffer.isBlocked else {
            attempts = 0
            return
        }
        guard attempts < Self.maximumAttempts else { return }
        if packet.timestamp != timestamp {
            let peek = H264PayloadPeek(packet.payload)
            guard peek.isIDR || peek.hasParameterSets || Self.hasMessages(packet.payload) else { return }
            timestamp = packet.timestamp
        }
        guard let frame = buffer.waitingFrame(with: packet.sequenceNumber) else { return }
        attempts += 1
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
