package import MediaCore
package import VideoCoding

/// Makes frames without pictures, whose sizes come from a model.
final class ModelledPictures: PictureCodec {
    private static let dimensions = VideoDimensions(width: 640, height: 360)

    private var model: EncoderModel
    private let format: VideoFormatDescription
    private var isFirst = true

    init(_ configuration: EncoderModel.Configuration, seed: UInt64) throws(PictureCodecError) {
        model = EncoderModel(configuration: configuration, seed: seed)
        do throws(VideoCodingError) {
            format = try .modelled(Self.dimensions, properties: CompressionProperties())
        } catch {
            throw PictureCodecError(reason: "\(error)")
        }
    }

    func encode(
        frame: Int, at time: Duration, target: BitRate, isKeyframe: Bool
    ) throws(PictureCodecError) -> EncodedFrame? {
        // A stream begins with a keyframe.
        if isKeyframe || isFirst { model.requestKeyframe() }
        isFirst = false
        let keyframes = model.keyframeCount
        let size = model.nextFrame(target: target)
        let isKeyframe = model.keyframeCount != keyframes
        let statistics = EncodeStatistics(
            type: isKeyframe ? .idr : .p, size: DataSize(bytes: max(size.bytes, FrameStamp.leastSize)),
            temporalLayer: 0, isReference: true)
        let mediaTime = MediaTime(value: time.nanoseconds, timescale: 1_000_000_000)
        return EncodedFrame(
            sample: SampleBuffer(
                data: BlockBuffer(FrameStamp.frame(statistics, time: mediaTime)), format: format,
                presentationTime: mediaTime, isSync: isKeyframe, dependency: FrameDependency(isDependedOn: true)),
            statistics: statistics)
    }

    func skipPicture() {}

    func contentChanged(factor: Double) { model.contentChanged(factor: factor) }

    func receive(_ sample: SampleBuffer, frame: Int) {}

    var quality: ReceivedPictureQuality? { nil }

    var keyframeCount: Int { model.keyframeCount }
}

extension VideoFormatDescription {
    /// Returns parameter sets for empty frames: those of a real encoder.
    package static func modelled(
        _ dimensions: VideoDimensions, properties: CompressionProperties
    ) throws(VideoCodingError) -> VideoFormatDescription {
        let outputs = EncodeOutputQueue()
        var properties = properties
        properties.maxFrameBytes = nil
        properties.averageBitRate = .megabits(4)
        let session = try CompressionSession(
            dimensions: dimensions, properties: properties, outputHandler: outputs.append)
        var picture = MutablePixelBuffer(format: .i420, dimensions: dimensions)
        for plane in 0..<3 {
            picture.withMutablePlane(plane) { bytes, _ in _ = bytes.initializeMemory(as: UInt8.self, repeating: 128) }
        }
        try session.encode(picture.freeze(), presentationTime: .zero, options: EncodeOptions(forceKeyframe: true))
        guard let frame = outputs.next()?.frame else { throw .encodingFailed(backEnd: .openH264, code: 0) }
        return frame.sample.format
    }
}
