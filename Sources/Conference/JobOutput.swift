import AudioMixing
import Compositing
import EncoderSharing
import MediaCore
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
    /// Luma samples of the decoded pictures.
    var samples = 0.0
    var dropped: UInt64 = 0
    /// The pictures of `decoded` that came out of a device.
    var onDevice: UInt64 = 0
    /// The number of pictures that were copied into memory.
    var copied: UInt64 = 0
    /// The reason for which the device decodes the source no longer.
    var deviceFault: VideoCodingError?
    /// The decoder lost its references and needs a keyframe to continue.
    var needsKeyframe = false
    /// True if the decoder has guessed parts of a picture, false if a whole keyframe came after that; nil if neither.
    var isDamaged: Bool?
    /// True if the newest picture equals the one that was shown before.
    private(set) var isUnchanged = false
    /// True if the room waits for it.
    var isAwaited = false

    /// A frame in which nothing changes has at most a bit for this number of samples, since it is all skipped
    /// macroblocks, or it is hardly more than headers.
    private static let samplesPerBit = 200
    private static let headers = 64

    /// Sees whether the newest picture is just the one that is shown. Only small frames are looked at, since others
    /// change something.
    ///
    /// - Parameter size: The largest frame's bytes.
    mutating func compare(with shown: PixelBuffer, codedSize size: Int) {
        // Looking at samples on a device would copy them.
        guard let newest, newest.pixelBuffer.surface == nil,
            size <= max(Self.headers, shown.dimensions.area / (8 * Self.samplesPerBit))
        else { return }
        isUnchanged = newest.pixelBuffer.hasSameContent(as: shown)
    }
}

/// The pictures of one video tick, with their receivers.
struct ComposedTick: Sendable {
    var captureTime: MonotonicInstant
    var pictures: [PixelBuffer]
    /// The origin of each picture.
    var origins: [ComposedPicture.Origin]
    /// The index into `pictures` of each receiver.
    var pictureIndex: [ParticipantID: Int]
    /// The same for receivers that follow pictures of another size than their own.
    var followedPictureIndex: [ParticipantID: Int]
    /// The sources that each of them shows.
    var sources: [Set<SourceID>]
    /// The frames that the sources showed.
    var frames: [SourceFrameTimes]
    /// The number of sources in the pictures.
    var sourceCount: Int
    /// A device's work for them.
    var device: DeviceComposition
    /// The start of the tick.
    var handedOut: MonotonicInstant
    /// The time at which the pictures were finished.
    var composed: MonotonicInstant

    init(
        captureTime: MonotonicInstant, composed: [ComposedPicture], plan: ViewPlan, frames: [SourceFrameTimes],
        sourceCount: Int, device: DeviceComposition = DeviceComposition(), handedOut: MonotonicInstant
    ) {
        self.captureTime = captureTime
        pictures = composed.map(\.picture)
        origins = composed.map(\.origin)
        pictureIndex = plan.requestIndex
        followedPictureIndex = plan.followedRequestIndex
        sources = plan.requests.map(\.instruction.requiredSources)
        self.frames = frames
        self.sourceCount = sourceCount
        self.device = device
        self.handedOut = handedOut
        self.composed = handedOut
    }
}

/// A device's work for a room's pictures.
struct DeviceComposition: Sendable {
    var pictures: UInt64 = 0
    /// The number of pictures that were copied into memory.
    var downloads: UInt64 = 0
    /// Pictures that were copied to it.
    var uploads: UInt64 = 0
    /// Failures, after each of which software composed the picture.
    var faults: UInt64 = 0
    /// The reason of the last one, and what follows.
    var reason: String?

    /// - Parameter rest: How long software goes on; nil: the device composes the next picture.
    mutating func add(_ fault: VideoCodingError, retryAfter rest: Duration?) {
        faults += 1
        reason = rest.map { "\(fault); the device is tried again after \($0.components.seconds) s" } ?? "\(fault)"
    }
}

/// The outcome of encoding one picture for one group.
struct EncodedPicture: Sendable {
    var captureTime: MonotonicInstant
    var frame: EncodedFrame?
    /// True if a device made the frame.
    var isFromDevice = false
    /// The frame's payloads, for its receivers.
    var payloads: FramePayloads?
    var error: VideoCodingError?
    /// True if the picture was copied to the device that made the frame.
    var isUploaded = false
    /// The failure of the device that encodes; software continues if it has to.
    var deviceFault: EncoderFailure?
    /// The encoder's method for losses since its last keyframe.
    var recovery = LossRecovery.keyframes
    /// True if the frame refers only to pictures of its receiver, as requested.
    var isRefresh = false
}

/// The mixes of one audio tick.
struct MixedTick: Sendable {
    var captureTime: MonotonicInstant
    var sampleTime: UInt32
    var output: AudioTickResult
}
