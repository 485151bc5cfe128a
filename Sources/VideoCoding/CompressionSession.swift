import H264
public import MediaCore
import NIOCore
import Synchronization

/// Encodes one H.264 stream: a picture in, a frame out, no delay, and key frames only on request.
///
/// `encode` is meant for one serial queue; calls from elsewhere wait for the one that runs. The rates may be set from
/// anywhere at any time without waiting.
public final class CompressionSession: Sendable {
    public let backEnd: EncoderBackEnd
    public let configuration: CompressionConfiguration
    /// The level that the stream keeps within.
    public let level: H264Level

    private let state: Mutex<State>
    private let counts = Mutex(CompressionStatistics())
    private let bitRate: Atomic<Int64>
    private let frameRate: Atomic<Int>

    /// Makes an encoder. Its first frame is a key frame.
    public init(
        backEnd: EncoderBackEnd = .openH264, configuration: CompressionConfiguration
    ) throws(VideoCodingError) {
        self.backEnd = backEnd
        self.configuration = configuration
        let level = try configuration.validated()
        self.level = level
        let limits = CompressionConfiguration.minimumBitRate...level.maximumBitRate(profile: configuration.profile)
        let rate = EncodingRate(
            bitRate: configuration.averageBitRate.clamped(to: limits), frameRate: configuration.expectedFrameRate)
        bitRate = Atomic(rate.bitRate.bitsPerSecond)
        frameRate = Atomic(rate.frameRate)
        state = Mutex(
            try State(
                encoder: Self.makeEncoder(backEnd, configuration: configuration, level: level, rate: rate),
                rate: rate, configuration: configuration))
    }

    private static func makeEncoder(
        _ backEnd: EncoderBackEnd, configuration: CompressionConfiguration, level: H264Level, rate: EncodingRate
    ) throws(VideoCodingError) -> any EncoderBackEndSession {
        switch backEnd {
        case .openH264:
            return try OpenH264Encoder(configuration: configuration, level: level, rate: rate)
        case .x264:
            #if X264
                return try X264Encoder(configuration: configuration, level: level, rate: rate)
            #else
                throw .backEndNotBuilt(.x264)
            #endif
        }
    }

    /// Aims at `rate` from the next frame on, without a key frame. Held within the level's limit.
    public func setAverageBitRate(_ rate: BitRate) {
        let limits = CompressionConfiguration.minimumBitRate...level.maximumBitRate(profile: configuration.profile)
        bitRate.store(rate.clamped(to: limits).bitsPerSecond, ordering: .relaxed)
    }

    /// Reckons with `rate` frames a second from the next frame on, without a key frame. Held within the level's limit.
    public func setExpectedFrameRate(_ rate: Int) {
        let limits = CompressionConfiguration.frameRates
        let highest = min(limits.upperBound, level.maximumFrameRate(for: configuration.dimensions))
        frameRate.store(min(max(rate, limits.lowerBound), highest), ordering: .relaxed)
    }

    /// The rate aimed at.
    public var averageBitRate: BitRate { BitRate(bitsPerSecond: bitRate.load(ordering: .relaxed)) }

    /// What has been made so far.
    public var statistics: CompressionStatistics { counts.withLock { $0 } }

    /// The format of the stream: size, profile, SPS and PPS. It stays the same from key frame to key frame.
    public var format: VideoFormatDescription { state.withLock { $0.format } }

    /// Encodes an I420 picture of the session's size. The picture is read where it is and not kept.
    ///
    /// - Returns: The frame; nil when the rate control left it out.
    public func encode(
        _ picture: PixelBuffer, presentationTime: MediaTime, options: EncodeOptions = EncodeOptions()
    ) throws(VideoCodingError) -> EncodedFrame? {
        guard picture.format == .i420 else { throw .pixelFormatNotSupported(picture.format) }
        guard picture.dimensions == configuration.dimensions else {
            throw .dimensionsMismatch(picture: picture.dimensions, session: configuration.dimensions)
        }
        let rate = EncodingRate(
            bitRate: BitRate(bitsPerSecond: bitRate.load(ordering: .relaxed)),
            frameRate: frameRate.load(ordering: .relaxed))
        let frame = try state.withLock { state throws(VideoCodingError) in
            try state.encode(
                picture, presentationTime: presentationTime, rate: rate, forceKeyFrame: options.forceKeyFrame)
        }
        count(frame, rate: rate)
        return frame
    }

    private func count(_ frame: EncodedFrame?, rate: EncodingRate) {
        counts.withLock { counts in
            guard let frame else {
                counts.framesSkipped += 1
                return
            }
            counts.framesEncoded += 1
            counts.encodedSize += frame.size
            if frame.isKeyFrame {
                counts.keyFrames += 1
            } else {
                counts.largestDeltaFrame = max(counts.largestDeltaFrame, frame.size)
            }
            if rate.bitRate.duration(for: frame.size) > configuration.latencyBudget { counts.framesOverBudget += 1 }
        }
    }

    private struct State: ~Copyable {
        let encoder: any EncoderBackEndSession
        let maximumKeyFrameInterval: Int
        var rate: EncodingRate
        var format: VideoFormatDescription
        var framesSinceKeyFrame = 0

        init(
            encoder: any EncoderBackEndSession, rate: EncodingRate, configuration: CompressionConfiguration
        ) throws(VideoCodingError) {
            self.encoder = encoder
            self.rate = rate
            maximumKeyFrameInterval = configuration.maximumKeyFrameInterval ?? .max
            format = try Self.makeFormat(encoder)
        }

        static func makeFormat(_ encoder: any EncoderBackEndSession) throws(VideoCodingError) -> VideoFormatDescription
        {
            do {
                return try VideoFormatDescription(h264ParameterSets: encoder.parameterSets)
            } catch {
                throw .codecUnavailable(reason: "the encoder's parameter sets make no sense: \(error)")
            }
        }

        mutating func encode(
            _ picture: PixelBuffer, presentationTime: MediaTime, rate newRate: EncodingRate, forceKeyFrame: Bool
        ) throws(VideoCodingError) -> EncodedFrame? {
            if newRate != rate {
                try encoder.setRate(newRate)
                rate = newRate
            }
            let isDue = framesSinceKeyFrame >= maximumKeyFrameInterval
            let made = try encoder.encode(
                picture, presentationTime: presentationTime, forceKeyFrame: forceKeyFrame || isDue)
            guard let made else { return nil }
            if made.isKeyFrame {
                framesSinceKeyFrame = 1
                if format.parameterSets != encoder.parameterSets { format = try Self.makeFormat(encoder) }
            } else {
                framesSinceKeyFrame += 1
            }
            let sample = SampleBuffer(
                data: BlockBuffer(made.data), format: format, presentationTime: presentationTime,
                isSync: made.isKeyFrame)
            return EncodedFrame(
                sample: sample, isKeyFrame: made.isKeyFrame, averageQP: made.averageQP,
                size: DataSize(bytes: made.data.readableBytes))
        }
    }
}
