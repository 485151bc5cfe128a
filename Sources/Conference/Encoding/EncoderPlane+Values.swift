import EncoderSharing
import MediaCore
import OrderedCollections
import PeerConnection
import VideoCoding

extension EncoderPlane {
    /// A receiver's state at a tick.
    struct Viewer {
        var id: ParticipantID
        /// Viewers with the same number see the same.
        var viewNumber = 0
        /// The preference for motion or detail at low bitrates.
        var preference = Ladder.DegradationPreference.motion
        /// True if pictures are composed for the receiver: false if it gets a source's own packets.
        var isComposed = true
        var link: ReceiverLink
    }

    typealias Viewers = OrderedDictionary<ParticipantID, Viewer>

    /// The jobs of a tick.
    struct Work {
        var jobs: [Job] = []
        /// The number of busy encoders.
        var postponed = 0
        /// The ticks of pictures that waited for an encoder and were not encoded, because newer ones came.
        var overtaken: [MonotonicInstant] = []
    }

    /// A frame with its receivers.
    struct Delivery {
        var frame: EncodedFrame
        var payloads: FramePayloads?
        var captureTime: MonotonicInstant
        var targetTime: MonotonicInstant
        /// The time that the picture waited, stage by stage.
        var ledger: PictureLedger?
        var receivers: [ParticipantID]
    }
}

/// The sizes in which a receiver's picture is composed: that of its own group, and, until it gets that group's frames,
/// also that of the group that it leaves.
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
