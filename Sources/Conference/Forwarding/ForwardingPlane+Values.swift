import MediaCore
import NIOCore
import PeerConnection

extension ForwardingPlane {
    /// The state of a source at a tick.
    struct SourceState {
        /// True if its camera is on; always true for a screen share.
        var isOn = true
        /// True if its sender answers requests for keyframes.
        var canRequestKeyframes = true
        var packetizationMode = 1
        /// True if its newest pictures are not decoded, and decoding needs a keyframe to continue.
        var isPicturePaused = false
        /// The time at which its newest picture was decoded; nil before the first.
        var pictureTime: MonotonicInstant?
    }

    /// The state of a receiver at a tick.
    struct ReceiverState {
        var id: ParticipantID
        /// The source that is all that it sees; nil if it sees several, or none.
        var sole: SourceID?
        /// True if its path carries too little for video.
        var isVideoPaused = false
        /// Limits of its decoder and its network; nil while they are not known.
        var limits: ForwardingPolicy.Receiver?
    }

    /// An order to a source's or a receiver's connection.
    enum Command {
        case requestKeyframe(SourceID)
        /// Sets whether a source's packets are handed out as they come.
        case setForwarded(SourceID, Bool)
        /// Sends a packet of a source to the other relays that show it.
        case relay(SourceID, ForwardedPacket, parameterSets: [ByteBuffer], isRestart: Bool)
        /// Has a source's pictures not decoded, or decoded again.
        case setPaused(SourceID, Bool)
        /// An encoder's frames are to take over from the packets that wait.
        case endForwarding(ParticipantID)
        /// No frame after the newest may be forwarded.
        case stopForwarding(ParticipantID)
        /// The source's stream has restarted.
        case restart(ParticipantID, ForwardedPacket)
        /// From this packet on, the source's packets are sent in place of an encoder's.
        case begin(ParticipantID, ForwardedPacket, parameterSets: [ByteBuffer])
        case forward(
            ParticipantID, ForwardedPacket, parameterSets: [ByteBuffer], leavesOutDispensable: Bool)
    }
}
