public import MediaCore

/// The settings of a compression session.
///
/// Not every back end supports every value, and some values are fixed once a session has taken a frame:
/// `CompressionSession.supportedProperties` lists both. A session returns the values in force: values left to the
/// encoder are replaced by its choice, and rates are limited by the level.
public struct CompressionProperties: Hashable, Sendable {
    /// The target rate, if the rate control has one. It is limited to 10 kbit/s and the level's limit.
    public var averageBitRate = BitRate.megabits(1)
    /// Hard limits on the bytes in any span of time, all of them at once.
    ///
    /// The rate is kept below them, and in real time a frame that would break one is left out. Otherwise they hold as
    /// long as frames come at `expectedFrameRate`.
    public var dataRateLimits: [DataRateLimit] = []
    public var rateControlMode = RateControlMode.constrainedVariable
    /// True if frames must come out at once, as calls need: no frame waits for a later one.
    public var realTime = true
    /// True if the decoding order may differ from the presentation order (B-frames). Not in real time.
    public var allowFrameReordering = false
    /// The entropy coding; nil for the best of the profile. OpenH264 makes small slices (`sliceMaxBytes`) with CAVLC
    /// only.
    public var entropyMode: EntropyMode?
    public var profileLevel = H264ProfileLevel(.constrainedBaseline)
    /// The most frames from one keyframe to the next; nil for no limit.
    public var maxKeyframeInterval: Int?
    /// The longest time from one keyframe to the next; nil for no limit.
    public var maxKeyframeIntervalDuration: Duration?
    /// Frames per second, 1 to 60. The bits of a frame follow from it, not from the frames' times.
    public var expectedFrameRate = 30.0
    /// The quality from 0 (smallest frames) to 1 (best pictures).
    ///
    /// In `RateControlMode.quality` it alone decides; in `.constrainedVariable` pictures become no better than this,
    /// however high the rate. In both cases a tenth of the scale is about half the size.
    public var quality = 1.0
    /// The most bytes of any frame, keyframes among them; nil for no limit.
    ///
    /// In real time this always holds. A frame that came out larger is made again as a keyframe, coarser until it
    /// fits, and left out where even the coarsest does not. Otherwise it is the size of the encoder's buffer model.
    public var maxFrameBytes: DataSize?
    /// Renew the picture piece by piece, all of it within this many frames, without keyframes; nil for not.
    public var intraRefreshPeriod: Int?
    /// The largest size of a slice's NAL unit, for receivers that do not reassemble fragments; nil for one slice per
    /// picture.
    ///
    /// A slice is whole macroblocks: a single large one may exceed it.
    public var sliceMaxBytes: DataSize?
    /// 1 to 3: each layer above the first doubles the frame rate, and the stream plays without the upper ones.
    public var temporalLayers = 1
    /// True if older frames are kept as references, so that encoding can continue without a keyframe after lost frames.
    ///
    /// See `EncodeOptions.invalidateReferencesBackTo` and `EncodedFrame.longTermReference`.
    public var longTermReferences = false
    /// The shape of a sample as width and height; written into the SPS if it is not 1:1.
    public var pixelAspectRatio = VideoDimensions(width: 1, height: 1)
    /// The colour description, written into the SPS if anything is specified; then BGRA pictures are converted to it,
    /// whatever colour is attached to them. Other pictures have to have it.
    public var colour = ColourDescription.unspecified
    public var preset = EncoderPreset.balanced
    /// The longest time of a frame at the average bitrate.
    ///
    /// It is the length of x264's buffer, and so bounds its frames. OpenH264 does not know the budget: it spreads the
    /// rate evenly, and saves on later frames, within about two seconds, the excess of a frame. `CompressionStatistics`
    /// counts the frames beyond it. `maxFrameBytes` bounds frames of both.
    public var latencyBudget = Duration.milliseconds(100)
    /// The storage of several passes over a recording; nil for a single pass.
    ///
    /// Not in real time, and only with `RateControlMode.average`. See `CompressionSession.beginPass`.
    public var multiPassStorage: MultiPassStorage?
    /// True if each frame is given a QP that keeps the rate, in place of a device's own rate control, which may follow
    /// a new rate too slowly. Without effect in `RateControlMode.quality`.
    public var controlsDeviceQP = false

    public init() {}

    /// Settings that suit most users.
    public init(
        averageBitRate: BitRate, expectedFrameRate: Double = 30,
        profileLevel: H264ProfileLevel = H264ProfileLevel(.constrainedBaseline)
    ) {
        self.averageBitRate = averageBitRate
        self.expectedFrameRate = expectedFrameRate
        self.profileLevel = profileLevel
    }
}

/// A limit of the bytes in any time span of this length.
public struct DataRateLimit: Hashable, Sendable {
    public var size: DataSize
    public var window: Duration

    public init(size: DataSize, window: Duration) {
        self.size = size
        self.window = window
    }
}

/// The aim of an encoder's rate control.
public enum RateControlMode: String, CaseIterable, Sendable {
    /// The rate is spent whether it is needed or not: filler data makes up for easy pictures.
    case constant
    /// The rate is met on average over a few seconds; single frames vary with the pictures.
    case average
    /// The rate is an upper bound: pictures have the requested quality as far as the bound allows. Follows a new rate
    /// best.
    case constrainedVariable = "constrained-variable"
    /// Pictures of constant quality, whatever they take. Only where a frame takes more than about half of its picture's
    /// samples does OpenH264 make it a coarser keyframe.
    case quality
}

/// The entropy coding of syntax elements (H.264 9.2, 9.3).
public enum EntropyMode: String, CaseIterable, Sendable {
    /// Variable-length codes: quick, and in every profile.
    case cavlc
    /// Arithmetic coding: about a tenth fewer bits; not in Baseline. OpenH264's pictures get no better than with a
    /// quality of 0.76.
    case cabac
}

/// A profile and the highest level that a stream keeps within.
public struct H264ProfileLevel: Hashable, Sendable {
    public var profile: H264Profile
    /// The level; nil for the lowest that holds size, frame rate, and the average bitrate or 4 Mbit/s, the larger.
    public var level: H264Level?

    public init(_ profile: H264Profile, level: H264Level? = nil) {
        self.profile = profile
        self.level = level
    }
}
