public import MediaCore
import MediaFiles
import VideoCoding

/// A few seconds of video, encoded once and shared by many clients.
public struct PreEncodedClip: Sendable {
    public var samples: [SampleBuffer]
    public var dimensions: VideoDimensions
    /// Frames per second.
    public var frameRate: Double

    /// - Parameter samples: The frames, in the order in which they are shown; the first is a keyframe.
    public init(samples: [SampleBuffer], dimensions: VideoDimensions, frameRate: Double) {
        self.samples = samples
        self.dimensions = dimensions
        self.frameRate = frameRate
    }

    /// The size above which a file is read while it is sent.
    private static let largestFile = 64_000_000

    /// Reads a raw stream that is sent unchanged; nil if it is too large to be kept.
    ///
    /// - Throws: `ClientError.unreadableInput`, also for a stream with B-frames.
    static func read(path: String, frameRate: Double) throws(ClientError) -> PreEncodedClip? {
        do {
            let reader = try EncodedFileSource.open(path)
            var (samples, bytes): ([SampleBuffer], Int) = ([], 0)
            while let sample = try reader.nextSample() {
                bytes += sample.data.count
                guard bytes <= largestFile else { return nil }
                samples.append(sample)
            }
            guard let first = samples.firstIndex(where: \.isSync) else { return nil }
            return PreEncodedClip(
                samples: Array(samples[first...]), dimensions: samples[first].format.dimensions, frameRate: frameRate)
        } catch {
            throw ClientError(reading: path, error)
        }
    }

    /// Encodes a clip: a keyframe every second, and no frame counter, whose time would be long past.
    ///
    /// - Throws: `ClientError.failed` when it cannot be encoded; `CancellationError` in a cancelled task.
    static func make(
        name: String, dimensions: VideoDimensions, frameRate: Double, bitRate: BitRate, backEnd: EncoderBackEnd,
        seconds: Int = 4
    ) throws -> PreEncodedClip {
        let source = SyntheticVideoSource(
            name: name, dimensions: dimensions, frameRate: frameRate, showsCounter: false)
        let frameRate = min(source.frameRate, 60)
        var clip = PreEncodedClip(samples: [], dimensions: source.dimensions, frameRate: frameRate)
        do {
            let outputs = EncodeOutputQueue()
            let session = try CompressionSession(
                dimensions: source.dimensions, backEnd: backEnd,
                properties: CompressionProperties(
                    averageBitRate: bitRate, expectedFrameRate: frameRate,
                    profileLevel: H264ProfileLevel(.constrainedBaseline)),
                outputHandler: outputs.append)
            for index in 0..<max(1, Int(frameRate) * seconds) {
                try Task.checkCancellation()
                let time = Int64(clamping: Double(index) * 1000 / frameRate)
                try session.encode(
                    source.makePicture(wallClockMilliseconds: time),
                    presentationTime: MediaTime(value: time, timescale: 1000),
                    options: EncodeOptions(forceKeyframe: index % max(1, Int(frameRate)) == 0))
                if let frame = outputs.next()?.frame { clip.samples.append(frame.sample) }
            }
        } catch let error as CancellationError {
            throw error
        } catch {
            throw ClientError.failed(reason: "the test clip cannot be encoded: \(error)")
        }
        guard clip.samples.first?.isSync == true else {
            throw ClientError.failed(reason: "the test clip cannot be encoded: it does not begin with a keyframe")
        }
        return clip
    }
}

/// Sends a clip over and over: one of several sizes, by the tile that it is seen in.
final class ClipSource: VideoSource {
    var dimensions: VideoDimensions { clips[0].dimensions }
    var frameRate: Double { clips[0].frameRate }
    var isImmediate: Bool { true }
    var followsBitRate: Bool { false }

    /// The same in several sizes, the largest first; with frames of all sizes at the same places.
    private let clips: [PreEncodedClip]
    private var current = 0
    private var wanted = 0
    private var index: Int

    /// - Parameters:
    ///   - clips: The same clip in several sizes, the largest first.
    ///   - offset: The start in seconds, so that the keyframes of many clients do not come at the same time.
    init(clips: [PreEncodedClip], offset: Int = 0) {
        self.clips = clips
        index = max(0, offset) * Int(clips[0].frameRate) % max(clips[0].samples.count, 1)
        skipToSyncFrame()
    }

    func nextFrame(wallClockMilliseconds: Int64) throws(ClientError) -> SourceFrame {
        // Another size begins with a keyframe.
        if wanted != current, clips[wanted].samples.indices.contains(index), clips[wanted].samples[index].isSync {
            current = wanted
        }
        let clip = clips[current]
        guard clip.samples.indices.contains(index) else { throw .failed(reason: "there is no video to send") }
        defer { index = (index + 1) % clip.samples.count }
        return SourceFrame(
            content: .encoded(clip.samples[index]), duration: .nanoseconds(Int64(clamping: 1e9 / clip.frameRate)))
    }

    func fit(_ tile: VideoDimensions) {
        let size = SendSize.dimensions(of: dimensions, in: tile)
        wanted = clips.lastIndex { $0.dimensions.width >= size.width && $0.dimensions.height >= size.height } ?? 0
    }

    func skipToSyncFrame() {
        let samples = clips[wanted].samples
        for _ in samples.indices where !samples[index % samples.count].isSync { index = (index + 1) % samples.count }
        index %= max(samples.count, 1)
    }
}
