import H264
import NIOCore
import VideoCoding

/// An encoded frame as the payloads of RTP packets: made once for all whom it is sent to.
struct FramePayloads: Sendable {
    /// What made them.
    let packetizer: H264Packetizer
    let payloads: [ByteBuffer]

    /// Nil where the frame is none.
    init?(of frame: EncodedFrame, by packetizer: H264Packetizer) {
        guard let units = try? frame.sample.nalUnits() else { return nil }
        self.packetizer = packetizer
        payloads = packetizer.packetize(units)
    }
}
