import Dispatch
import MediaCore
import PixelTransfer
import VideoCoding

/// A client's video on its way out: source and encoder.
///
/// `@unchecked Sendable` holds because everything that changes is touched inside blocks on `queue` only, a serial
/// queue, or on the client's event loop only where frames lie ready.
final class VideoSendPipeline: @unchecked Sendable {
    struct EncoderSettings: Sendable {
        var backEnd: EncoderBackEnd
        var profile: H264Profile
        /// The highest `level_idc` that the receiver takes.
        var levelIDC: UInt8?
    }

    /// The request for the next frame.
    struct Request: Sendable {
        var wallClockMilliseconds: Int64
        var bitRate: BitRate
        var isKeyframeWanted: Bool
        /// True if there is room to send it. Without room, a picture is not encoded, and an encoded stream is left out
        /// up to its next keyframe.
        var hasRoom: Bool
        /// How long ago the frame was due. Pictures of a file whose time has passed meanwhile are left out.
        var lateness = Duration.zero
        /// The largest size in which the picture is seen; nil if that is unknown, or if the sender does not follow it.
        var tile: VideoDimensions?
    }

    /// The result of a request.
    struct Output: Sendable {
        /// The encoded frame; nil if it was left out.
        var frame: EncodedFrame?
        var duration: Duration
        /// The pictures in front of it that were left out, and how long they would have been seen.
        var missed: (count: Int, duration: Duration) = (0, .zero)
        /// True if pictures are left out where they are late, so that the others come at their times.
        var keepsTime = false
    }

    let queue: DispatchQueue
    private let source: any VideoSource
    private let settings: EncoderSettings
    private var session: CompressionSession?
    private var scaler: PixelTransferSession?
    private let outputs = EncodeOutputQueue()
    /// The last picture's time, in milliseconds.
    private var lastTime: Int64?
    private var isAwaitingSync = false
    /// True if a frame of an encoded stream was handed out.
    private var hasBegun = false

    init(source: any VideoSource, settings: EncoderSettings) {
        self.source = source
        self.settings = settings
        queue = DispatchQueue(label: "confclient.encode")
    }

    /// True if frames are ready, so that `queue` is not needed.
    var isImmediate: Bool { source.isImmediate }

    /// Produces the next frame. Call on `queue` only, unless frames lie ready.
    ///
    /// - Throws: `ClientError` when the source cannot be read or the encoder fails.
    func produce(_ request: Request) throws(ClientError) -> Output {
        if let tile = request.tile { source.fit(tile) }
        // Frames from before sending became possible are skipped without waiting for them.
        let isBeginning = !hasBegun && isAwaitingSync && request.hasRoom
        if request.isKeyframeWanted || isBeginning { source.skipToSyncFrame() }
        var frame = try source.nextFrame(wallClockMilliseconds: request.wallClockMilliseconds)
        var missed = (count: 0, duration: Duration.zero)
        while !source.isLive, case .picture = frame.content, missed.duration + frame.duration <= request.lateness {
            missed = (missed.count + 1, missed.duration + frame.duration)
            frame = try source.nextFrame(wallClockMilliseconds: request.wallClockMilliseconds)
        }
        switch frame.content {
        case .picture(let picture):
            let encoded = request.hasRoom ? try encode(scaled(picture, to: request.tile), request) : nil
            return Output(frame: encoded, duration: frame.duration, missed: missed, keepsTime: !source.isLive)
        case .encoded(let sample):
            if !request.hasRoom { isAwaitingSync = true }
            if sample.isSync, request.hasRoom { isAwaitingSync = false }
            guard !isAwaitingSync else { return Output(frame: nil, duration: frame.duration) }
            hasBegun = true
            return Output(
                frame: EncodedFrame(sample: sample), duration: frame.duration)
        }
    }

    /// The picture no larger than it needs to be in a tile.
    private func scaled(_ picture: PixelBuffer, to tile: VideoDimensions?) throws(ClientError) -> PixelBuffer {
        let size = tile.map { SendSize.dimensions(of: picture.dimensions, in: $0) } ?? picture.dimensions
        guard size != picture.dimensions else { return picture }
        if scaler?.destination.dimensions != size {
            scaler = PixelTransferSession(destination: PixelBufferAttributes(dimensions: size))
        }
        do {
            return try scaler?.transfer(picture) ?? picture
        } catch {
            throw .failed(reason: "the video cannot be scaled: \(error)")
        }
    }

    private func encode(_ picture: PixelBuffer, _ request: Request) throws(ClientError) -> EncodedFrame? {
        do {
            let session = try session(for: picture, bitRate: request.bitRate)
            try session.set(\.averageBitRate, to: request.bitRate)
            // The wall clock may be set back; pictures' times may not.
            lastTime = max(request.wallClockMilliseconds, lastTime.map { $0 + 1 } ?? .min)
            try session.encode(
                picture, presentationTime: MediaTime(value: lastTime ?? 0, timescale: 1000),
                options: EncodeOptions(forceKeyframe: request.isKeyframeWanted))
            switch outputs.next()?.result {
            case .frame(let frame): return frame
            case .failed(let error): throw error
            case .dropped, nil: return nil
            }
        } catch {
            throw .failed(reason: "the video cannot be encoded: \(error)")
        }
    }

    /// The encoder for pictures like this one: the one there is, unless the source changed its size, its colour or the
    /// shape of its samples.
    ///
    /// The stream says the colour even of sources that do not, since receivers guess differently.
    private func session(
        for picture: PixelBuffer, bitRate: BitRate
    ) throws(VideoCodingError) -> CompressionSession {
        let (dimensions, colour) = (picture.dimensions, picture.attachments.colour.assumingBT601)
        let shape = picture.attachments.pixelAspectRatio.shownSampleShape
        if let session, session.properties.colour == colour, session.properties.pixelAspectRatio == shape,
            session.canAccept(dimensions) == .accept
        {
            return session
        }
        var properties = CompressionProperties(
            averageBitRate: bitRate, expectedFrameRate: min(max(source.frameRate, 1), 60),
            profileLevel: H264ProfileLevel(settings.profile))
        properties.colour = colour
        properties.pixelAspectRatio = shape
        let made = try CompressionSession(
            dimensions: dimensions, backEnd: settings.backEnd, properties: properties, outputHandler: outputs.append)
        // The lowest level that holds the stream, or the receiver's own if that is lower still, which may not hold it.
        if let limit = settings.levelIDC, let level = made.properties.profileLevel.level, level.levelIDC > limit {
            guard let lower = H264Level(levelIDC: limit) else {
                throw .invalidConfiguration(reason: "no H.264 level has level_idc \(limit)")
            }
            try made.set(\.profileLevel.level, to: lower)
        }
        session = made
        return made
    }
}
