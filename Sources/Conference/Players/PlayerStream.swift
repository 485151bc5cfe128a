import H264
import MediaCore
import PeerConnection
import RTP
import SDP

/// The stream of a player's pictures as a camera would send it, for other relays.
struct PlayerStream {
    /// True if somebody cannot go on without a keyframe.
    var needsKeyframe = false
    private let packetizer = H264Packetizer(
        mode: .nonInterleaved, maximumPayloadSize: PeerConfiguration.maximumPayloadSize.bytes)
    private let ssrc: UInt32
    private var sequence: UInt16 = 0

    /// Receivers get a payload type of their own.
    private static let payloadType: UInt8 = 96

    init(ssrc: UInt32) {
        self.ssrc = ssrc
    }

    /// The packets of a frame; none if it cannot be read.
    mutating func packets(of frame: ReceivedVideoFrame, timestamp: UInt32) -> [ReceivedVideoPacket] {
        guard let units = try? frame.sample.nalUnits() else { return [] }
        let payloads = packetizer.packetize(units)
        return payloads.enumerated().map { index, payload in
            defer { sequence &+= 1 }
            return ReceivedVideoPacket(
                packet: RTPPacket(
                    payloadType: Self.payloadType, marker: index == payloads.count - 1, sequenceNumber: sequence,
                    timestamp: timestamp, ssrc: ssrc, payload: payload),
                content: .main, rotation: frame.rotation, arrival: frame.lastArrival)
        }
    }
}
