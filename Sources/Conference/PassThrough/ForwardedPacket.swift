import H264
import MediaCore
import RTP
import SecureTransport

/// A packet of a video stream as it came, for those who are sent it as it is.
public struct ReceivedVideoPacket: Sendable {
    /// In a stream of retransmissions, the packet that was repeated.
    var packet: RTPPacket
    /// What its stream shows.
    var content: NegotiatedMedia.Content
    /// How the packet says that its picture is to be turned; nil where it says nothing.
    var rotation: VideoRotation?
    var arrival: MonotonicInstant
}

/// A packet of a source on its way to receivers, with its place in the source's stream.
struct ForwardedPacket: Sendable {
    let packet: RTPPacket
    /// The sender's number, unwrapped.
    let sequence: Int64
    let arrival: MonotonicInstant
    private(set) var rotation: VideoRotation?
    let glance: H264PayloadGlance
    /// Whether it is known to be the first of its frame: the packet before it is there, and of another frame.
    let startsFrame: Bool

    init(_ received: ReceivedVideoPacket, sequence: Int64, startsFrame: Bool) {
        packet = received.packet
        self.sequence = sequence
        arrival = received.arrival
        rotation = received.rotation
        glance = H264PayloadGlance(received.packet.payload)
        self.startsFrame = startsFrame
    }
}

extension ForwardedPacket {
    /// The same packet; the last of the frame that another packet belongs to says how the picture lies.
    func told(_ rotation: VideoRotation, inFrameOf first: ForwardedPacket) -> ForwardedPacket {
        guard packet.marker, packet.timestamp == first.packet.timestamp, self.rotation == nil else { return self }
        var told = self
        told.rotation = rotation
        return told
    }
}
