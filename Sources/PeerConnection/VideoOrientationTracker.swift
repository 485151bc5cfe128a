import MediaCore
import RTP

/// Follows the orientation of a stream's pictures. A packet may state it for its picture; it then holds until another
/// packet states a different one (coordination of video orientation, 3GPP TS 26.114, 7.4.5).
struct VideoOrientationTracker {
    /// The header extension's identifier; nil if it was not negotiated.
    var id: UInt8?
    private var current = VideoRotation.none
    /// The last reported rotation, and its picture; earlier pictures may still be on their way.
    private var announced: (rotation: VideoRotation, timestamp: UInt32)?

    init(id: UInt8?) {
        self.id = id
    }

    /// Takes a packet, in the order of the stream.
    mutating func record(_ packet: RTPPacket) {
        guard let id, let rotation = packet.extensions.videoRotation(id: id) else { return }
        if let announced, announced.timestamp != packet.timestamp { current = announced.rotation }
        announced = (rotation, packet.timestamp)
    }

    /// Returns the rotation of the completed picture with this RTP timestamp.
    mutating func rotation(at timestamp: UInt32) -> VideoRotation {
        guard let announced, Int32(bitPattern: timestamp &- announced.timestamp) >= 0 else { return current }
        current = announced.rotation
        return current
    }
}
