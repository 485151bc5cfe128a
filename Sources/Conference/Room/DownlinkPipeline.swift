import MediaCore
import VideoCoding

/// A participant's video on its way out: which pictures are encoded, at which rate, and when as a keyframe.
///
/// One encode job is out at a time. A tick at which the encoder is still busy or the pacer's queue is full is left out
/// for this participant: no bits are spent on what would be late.
struct DownlinkPipeline {
    /// Keyframes come no closer together than this, however many are asked for…
    static let minimumKeyFrameInterval = Duration.milliseconds(500)
    /// …and take no more than this share of the rate, unless it is longer than the maximum since the last.
    static let keyFrameShare = 0.3
    static let maximumKeyFrameInterval = Duration.seconds(3)
    /// A receiver that cannot ask for keyframes gets one this often: it may come late, or lose packets.
    static let unaskedKeyFrameInterval = Duration.seconds(2)
    /// A picture that does not change is sent this often more, until it is sharp…
    static let refinementFrames = 15
    /// …and then this often, to keep the stream alive.
    static let unchangedInterval = Duration.milliseconds(200)

    let participant: ParticipantID
    let queue: JobQueueID
    let dimensions: VideoDimensions
    /// Whether the receiver's level does not allow the whole canvas.
    let isSmallerThanCanvas: Bool
    /// Whether the receiver was negotiated to ask for keyframes with PLI or FIR.
    private let canBeAskedForKeyFrames: Bool
    private let encoder: QueueConfined<LazyEncoder>

    private var isEncoding = false
    private var keyFrameWanted = true
    private var lastKeyFrame: MonotonicInstant?
    private var keyFrameSize = DataSize.zero
    private var lastPicture: PixelBuffer?
    private var lastEncode: MonotonicInstant?
    private var unchangedFrames = 0
    private var tickCount: UInt64 = 0
    private var frameRate: FrameRateDivisor

    private(set) var bitRate: VideoBitRate
    private(set) var framesEncoded: UInt64 = 0
    private(set) var framesDropped: UInt64 = 0
    private(set) var keyFrames: UInt64 = 0
    private(set) var stages: [Stage: LatencyHistogram] = [:]

    /// The stages a picture passes on its way to the pacer.
    enum Stage: String, CaseIterable {
        case compose
        case encodeQueue = "encode_queue"
        case encode
    }

    init(
        participant: ParticipantID, queue: JobQueueID, canBeAskedForKeyFrames: Bool, backEnd: EncoderBackEnd,
        setup: EncoderSetup, frameRate: Int
    ) {
        self.participant = participant
        self.queue = queue
        self.canBeAskedForKeyFrames = canBeAskedForKeyFrames
        dimensions = setup.dimensions
        isSmallerThanCanvas = setup.isSmallerThanCanvas
        let rate = setup.properties.averageBitRate
        bitRate = VideoBitRate(target: rate, sustained: rate)
        self.frameRate = FrameRateDivisor(dimensions: setup.dimensions, frameRate: frameRate)
        encoder = QueueConfined(LazyEncoder(backEnd: backEnd, setup: setup))
        for stage in Stage.allCases { stages[stage] = LatencyHistogram() }
    }

    mutating func setBitRate(_ rate: VideoBitRate) {
        bitRate = rate
        frameRate.update(bitRate: rate.sustained)
    }

    /// Pictures a second that are encoded at most.
    var framesPerSecond: Int { frameRate.framesPerSecond }
    /// Whether that is less than the room's rate.
    var isFrameRateReduced: Bool { frameRate.divisor > 1 }

    private var keyFrameInterval: Duration {
        let affordable = (bitRate.sustained * Self.keyFrameShare).duration(for: keyFrameSize)
        return min(max(affordable, Self.minimumKeyFrameInterval), Self.maximumKeyFrameInterval)
    }

    mutating func requestKeyFrame() {
        keyFrameWanted = true
    }

    mutating func observeComposition(_ duration: Duration) {
        stages[.compose]?.observe(duration)
    }

    /// The encode job of a composed picture, unless this tick is left out.
    mutating func takeJob(
        picture: PixelBuffer, captureTime: MonotonicInstant, hasRoom: Bool, deadline: MonotonicInstant,
        now: MonotonicInstant
    ) -> Job? {
        tickCount &+= 1
        if !canBeAskedForKeyFrames, let lastKeyFrame, now - lastKeyFrame >= Self.unaskedKeyFrameInterval {
            keyFrameWanted = true
        }
        let isKeyFrame = keyFrameWanted && (lastKeyFrame.map { now - $0 >= keyFrameInterval } ?? true)
        if lastPicture.map({ $0 === picture }) ?? false {
            unchangedFrames += 1
            let isDue = lastEncode.map { now - $0 >= Self.unchangedInterval } ?? true
            guard isKeyFrame || isDue || unchangedFrames <= Self.refinementFrames else { return nil }
        } else {
            unchangedFrames = 0
        }
        guard isKeyFrame || tickCount.isMultiple(of: UInt64(frameRate.divisor)) else { return nil }
        guard !isEncoding, hasRoom else {
            framesDropped &+= 1
            return nil
        }
        isEncoding = true
        lastPicture = picture
        lastEncode = now
        if isKeyFrame {
            keyFrameWanted = false
            lastKeyFrame = now
        }
        let settings = LazyEncoder.Settings(bitRate: bitRate, frameRate: frameRate.framesPerSecond)
        let (encoder, participant) = (encoder, participant)
        return Job(kind: .encode, queue: queue, deadline: deadline, handedOut: now) {
            .encoded(
                participant,
                encoder.value.encode(
                    picture, captureTime: captureTime, settings: settings, forceKeyFrame: isKeyFrame))
        }
    }

    /// Takes a job's result.
    mutating func complete(_ result: EncodedPicture, of completion: JobCompletion) {
        isEncoding = false
        stages[.encodeQueue]?.observe(completion.started - completion.handedOut)
        stages[.encode]?.observe(completion.finished - completion.started)
        if let frame = result.frame {
            framesEncoded &+= 1
            if frame.isKeyFrame {
                keyFrames &+= 1
                lastKeyFrame = completion.finished
                keyFrameSize = frame.size
            }
        }
        if result.error != nil { keyFrameWanted = true }
    }
}

/// An encoder that is made by its first job, on the worker, so that a join does not hold up the room's loop.
final class LazyEncoder {
    /// What may change between two frames.
    struct Settings: Equatable {
        var bitRate: VideoBitRate
        var frameRate: Int
    }

    private let backEnd: EncoderBackEnd
    private let setup: EncoderSetup
    private var session: CompressionSession?
    private var settings: Settings?
    private let outputs = EncodeOutputQueue()

    init(backEnd: EncoderBackEnd, setup: EncoderSetup) {
        self.backEnd = backEnd
        self.setup = setup
    }

    func encode(
        _ picture: PixelBuffer, captureTime: MonotonicInstant, settings wanted: Settings, forceKeyFrame: Bool
    ) -> EncodedPicture {
        do throws(VideoCodingError) {
            let session = try session(wanted)
            let time = MediaTime(value: captureTime.nanoseconds, timescale: 1_000_000_000)
            try session.encode(picture, presentationTime: time, options: EncodeOptions(forceKeyFrame: forceKeyFrame))
            switch outputs.next()?.result {
            case .frame(let frame): return EncodedPicture(captureTime: captureTime, frame: frame)
            case .failed(let error): throw error
            case .dropped, nil: return EncodedPicture(captureTime: captureTime)
            }
        } catch {
            // The next frame tries again with a new session.
            session = nil
            return EncodedPicture(captureTime: captureTime, error: error)
        }
    }

    private func session(_ wanted: Settings) throws(VideoCodingError) -> CompressionSession {
        if let session {
            if wanted != settings { try session.setProperties { wanted.apply(to: &$0) } }
            settings = wanted
            return session
        }
        var properties = setup.properties
        wanted.apply(to: &properties)
        let made = try CompressionSession(
            dimensions: setup.dimensions, backEnd: backEnd, properties: properties, outputHandler: outputs.append)
        session = made
        settings = wanted
        return made
    }
}

extension LazyEncoder.Settings {
    /// No frame, a keyframe of a detailed picture least of all, takes the link for longer than this: it is better to see
    /// a coarse picture now, which the next frames sharpen, than a sharp one late.
    private static let longestFrame = Duration.milliseconds(400)
    /// The coarsest keyframe of a large canvas takes about this much.
    private static let smallestBound = DataSize(bytes: 10_000)

    fileprivate func apply(to properties: inout CompressionProperties) {
        properties.averageBitRate = bitRate.target
        properties.expectedFrameRate = Double(frameRate)
        properties.maxFrameBytes = max(bitRate.sustained.dataSize(over: Self.longestFrame), Self.smallestBound)
    }
}
