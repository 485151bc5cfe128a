package import H264
import NIOCore
package import VideoCoding

/// An encoded frame as payloads of RTP packets, made once for all receivers.
package struct FramePayloads: Sendable {
    /// The packetizer that made them.
    let packetizer: H264Packetizer
    let payloads: [ByteBuffer]

    /// Makes the packets of a frame; nil if its NAL units cannot be read.
    package init?(of frame: EncodedFrame, by packetizer: H264Packetizer) {
        guard let units = try? frame.sample.nalUnits() else { return nil }
        self.packetizer = packetizer
        payloads = packetizer.packetize(units)
    }
}
