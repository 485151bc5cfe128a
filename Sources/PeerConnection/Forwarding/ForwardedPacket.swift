package import H264
package import MediaCore
package import RTP
package import SDP

/// A received packet of a video stream, for forwarding.
public struct ReceivedVideoPacket: Sendable {
    /// The repeated packet, in a stream of retransmissions.
    package var packet: RTPPacket
    /// The content of its stream.
    package var content: NegotiatedMedia.Content
    /// The rotation that the packet states; nil if it states none.
    package var rotation: VideoRotation?
    package var arrival: MonotonicInstant
    /// True if the jitter buffer begins again with the packet.
    package var beginsAgain: Bool

    package init(
        packet: RTPPacket, content: NegotiatedMedia.Content, rotation: VideoRotation?, arrival: MonotonicInstant,
        beginsAgain: Bool = false
    ) {
        self.packet = packet
        self.content = content
        self.rotation = rotation
        self.arrival = arrival
        self.beginsAgain = beginsAgain
    }
}

/// A packet of a source on its way to receivers, with its place in the source's stream.
package struct ForwardedPacket: Sendable {
    package let packet: RTPPacket
    /// The sender's number, unwrapped.
    package let sequence: Int64
    package let arrival: MonotonicInstant
    package private(set) var rotation: VideoRotation?
    package let peek: H264PayloadPeek
    /// True if the packet is known to be the first of its frame: the packet before it is there, and belongs to another
    /// frame.
    package let startsFrame: Bool

    package init(_ received: ReceivedVideoPacket, sequence: Int64, startsFrame: Bool) {
        packet = received.packet
        self.sequence = sequence
        arrival = received.arrival
        rotation = received.rotation
        peek = H264PayloadPeek(received.packet.payload)
        self.startsFrame = startsFrame
    }
}

extension ForwardedPacket {
    /// The same packet with the orientation of the picture in the last packet of its frame.
    package func told(_ rotation: VideoRotation, inFrameOf first: ForwardedPacket) -> ForwardedPacket {
        guard packet.marker, packet.timestamp == first.packet.timestamp, self.rotation == nil else { return self }
        var told = self
        told.rotation = rotation
        return told
    }
}
