import Dispatch
import MediaCore
import NIOCore
import VideoCoding

/// A client's video on its way out: source and encoder.
///
/// `@unchecked Sendable` holds because everything that changes is touched inside blocks on `queue` only, a serial queue.
final class VideoSendPipeline: @unchecked Sendable {
    /// How the encoder is set up.
    struct EncoderSettings: Sendable {
        var backEnd: EncoderBackEnd
        var profile: H264Profile
        /// The highest `level_idc` that the receiver takes.
        var levelIDC: UInt8?
    }

    /// What to do with the next frame.
    struct Request: Sendable {
        var wallClockMilliseconds: Int64
        var bitRate: BitRate
        var isKeyFrameWanted: Bool
        /// Whether there is room to send it. Where there is none, a picture is not encoded, and a stream that is encoded
        /// already is left out up to its next key frame.
        var hasRoom: Bool
    }

    /// What came of a request.
    struct Output: Sendable {
        /// Nil where the frame was left out.
        var frame: EncodedFrame?
        var duration: Duration
    }

    let queue: DispatchQueue
    /// The size at the start.
    let dimensions: VideoDimensions
    private let source: any VideoSource
    private let settings: EncoderSettings
    private var session: CompressionSession?
    private var isAwaitingSync = false

    init(source: any VideoSource, settings: EncoderSettings) {
        self.source = source
        self.settings = settings
        dimensions = source.dimensions
        queue = DispatchQueue(label: "confclient.encode")
    }

    /// Produces the next frame. Call on `queue` only.
    ///
    /// - Throws: `ClientError` when the source cannot be read or the encoder fails.
    func produce(_ request: Request) throws(ClientError) -> Output {
        if request.isKeyFrameWanted { source.skipToSyncFrame() }
        let frame = try source.nextFrame(wallClockMilliseconds: request.wallClockMilliseconds)
        switch frame.content {
        case .picture(let picture):
            guard request.hasRoom else { return Output(frame: nil, duration: frame.duration) }
            return Output(frame: try encode(picture, request), duration: frame.duration)
        case .encoded(let sample):
            if !request.hasRoom { isAwaitingSync = true }
            if sample.isSync, request.hasRoom { isAwaitingSync = false }
            guard !isAwaitingSync else { return Output(frame: nil, duration: frame.duration) }
            return Output(
                frame: EncodedFrame(
                    sample: sample, isKeyFrame: sample.isSync, averageQP: nil,
                    size: DataSize(bytes: sample.data.count)), duration: frame.duration)
        }
    }

    private func encode(_ picture: PixelBuffer, _ request: Request) throws(ClientError) -> EncodedFrame? {
        do {
            let session = try session(for: picture.dimensions, bitRate: request.bitRate)
            session.setAverageBitRate(request.bitRate)
            return try session.encode(
                picture, presentationTime: MediaTime(value: request.wallClockMilliseconds, timescale: 1000),
                options: EncodeOptions(forceKeyFrame: request.isKeyFrameWanted))
        } catch {
            throw .failed(reason: "the video cannot be encoded: \(error)")
        }
    }

    /// The encoder for pictures of this size: the one there is, unless the source changed its size.
    private func session(
        for dimensions: VideoDimensions, bitRate: BitRate
    ) throws(VideoCodingError) -> CompressionSession {
        if let session, session.configuration.dimensions == dimensions { return session }
        let frameRate = min(max(Int(source.frameRate.rounded()), 1), 60)
        var configuration = CompressionConfiguration(
            dimensions: dimensions, expectedFrameRate: frameRate, averageBitRate: bitRate, profile: settings.profile)
        // The lowest level that holds the stream; the receiver's own where that is lower still, which may not hold it.
        var made = try CompressionSession(backEnd: settings.backEnd, configuration: configuration)
        if let limit = settings.levelIDC, made.level.levelIDC > limit {
            configuration.levelIDC = limit
            made = try CompressionSession(backEnd: settings.backEnd, configuration: configuration)
        }
        session = made
        return made
    }
}
