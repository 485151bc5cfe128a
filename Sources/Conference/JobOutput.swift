import AudioMixing
import Compositing
import EncoderSharing
import MediaCore
import NIOCore
import PeerConnection
import VideoCoding

/// A job's result, and whose it is.
enum JobOutput: Sendable {
    case decoded(SourceID, DecodedBatch)
    case composed(room: String, ComposedTick)
    case encoded(room: String, EncodedPicture)
    case mixed(room: String, [MixedTick])
}

/// The outcome of decoding a run of frames: only the newest picture matters to a compositor.
struct DecodedBatch: Sendable {
    var newest: DecodedPicture?
    var rotation = VideoRotation.none
    var decoded: UInt64 = 0
    var dropped: UInt64 = 0
    /// The decoder lost its references and needs a keyframe to go on.
    var needsKeyframe = false
}

/// The pictures of one video tick, and who gets which.
struct ComposedTick: Sendable {
    var captureTime: MonotonicInstant
    var pictures: [PixelBuffer]
    /// How each of them came about.
    var origins: [ComposedPicture.Origin]
    /// Index into `pictures`, by receiver.
    var pictureIndex: [ParticipantID: Int]
    /// The same of receivers who follow pictures of another size than that of their own.
    var followedPictureIndex: [ParticipantID: Int]
    /// The sources that each of them shows.
    var sources: [Set<SourceID>]
    /// The frames that the sources showed.
    var frames: [SourceFrameTimes]
    /// How many sources they were made of.
    var sourceCount: Int
    /// When the tick began.
    var handedOut: MonotonicInstant
    /// When the pictures were there.
    var composed: MonotonicInstant

    init(
        captureTime: MonotonicInstant, composed: [ComposedPicture], plan: ViewPlan, frames: [SourceFrameTimes],
        sourceCount: Int, handedOut: MonotonicInstant
    ) {
        self.captureTime = captureTime
        pictures = composed.map(\.picture)
        origins = composed.map(\.origin)
        pictureIndex = plan.requestIndex
        followedPictureIndex = plan.followedRequestIndex
        sources = plan.requests.map(\.instruction.requiredSources)
        self.frames = frames
        self.sourceCount = sourceCount
        self.handedOut = handedOut
        self.composed = handedOut
    }
}

/// The outcome of encoding one picture for one group.
struct EncodedPicture: Sendable {
    var captureTime: MonotonicInstant
    var frame: EncodedFrame?
    /// The frame's, for those it is sent to.
    var payloads: FramePayloads?
    var error: VideoCodingError?
    /// How the encoder can answer losses since its last keyframe.
    var recovery = LossRecovery.keyframes
    /// Whether it refers to nothing but what its receiver has, as was wished.
    var isRefresh = false
    /// The frames of sources that it is the first to show.
    var shown: ShownFrames?
}

/// The mixes of one audio tick.
struct MixedTick: Sendable {
    var captureTime: MonotonicInstant
    var sampleTime: UInt32
    var output: AudioTickResult
}
