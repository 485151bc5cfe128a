import CongestionControl
import EncoderSharing
import MediaCore
import OrderedCollections
import PeerConnection
import VideoCoding

extension EncoderPlane {
    /// A receiver as it is at a tick.
    struct Viewer {
        var id: ParticipantID
        /// Viewers with the same number see the same.
        var viewNumber = 0
        /// Whether motion or detail is kept where bits are few.
        var preference = Ladder.DegradationPreference.motion
        /// Whether pictures are composed for it: not where it is sent a source's own packets.
        var isComposed = true
        var link: ReceiverLink
    }

    typealias Viewers = OrderedDictionary<ParticipantID, Viewer>

    /// The jobs of a tick.
    struct Work {
        var jobs: [Job] = []
        /// How many encoders were busy.
        var postponed = 0
    }

    /// A frame, and to whom it is sent.
    struct Delivery {
        var frame: EncodedFrame
        var payloads: FramePayloads?
        var captureTime: MonotonicInstant
        var targetTime: MonotonicInstant
        /// How long the picture waited, stage by stage.
        var ledger: PictureLedger?
        var receivers: [ParticipantID]
    }
}

/// The sizes in which a receiver's picture is composed: that of its own group, and until it is sent that one's frames
/// also the size of the group that it leaves.
struct ReceiverCanvases: Hashable, Sendable {
    var own: VideoDimensions
    var followed: VideoDimensions?
}

/// Frames and bytes of a room's encoders.
struct EncodingCounters: Sendable {
    var frames: UInt64 = 0
    var keyframes: UInt64 = 0
    var bytes: UInt64 = 0
    var keyframeBytes: UInt64 = 0
    var failures: UInt64 = 0

    mutating func count(_ frame: EncodedFrame) {
        let size = UInt64(max(0, frame.size.bytes))
        frames &+= 1
        bytes &+= size
        guard frame.isKeyframe else { return }
        keyframes &+= 1
        keyframeBytes &+= size
    }
}
