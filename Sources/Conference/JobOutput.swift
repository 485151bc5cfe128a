import AudioMixing
import Compositing
import MediaCore
import NIOCore
import VideoCoding

/// What a job made, and for whom.
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
    var needsKeyFrame = false
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
    /// How many sources they were made of.
    var sourceCount = 0

    init(
        captureTime: MonotonicInstant, composed: [ComposedPicture], pictureIndex: [ParticipantID: Int],
        followedPictureIndex: [ParticipantID: Int] = [:]
    ) {
        self.captureTime = captureTime
        pictures = composed.map(\.picture)
        origins = composed.map(\.origin)
        self.pictureIndex = pictureIndex
        self.followedPictureIndex = followedPictureIndex
    }
}

/// The outcome of encoding one picture for one group.
struct EncodedPicture: Sendable {
    var captureTime: MonotonicInstant
    var frame: EncodedFrame?
    var error: VideoCodingError?
}

/// The mixes of one audio tick.
struct MixedTick: Sendable {
    var captureTime: MonotonicInstant
    var sampleTime: UInt32
    var output: AudioTickResult
}
