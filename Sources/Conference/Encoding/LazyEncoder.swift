import MediaCore
import VideoCoding

/// An encoder that is made by its first job, on the worker, so that a join does not hold up the room's loop; and again where
/// pictures of another size come, with a keyframe then.
final class LazyEncoder {
    /// What may change between two frames.
    struct Settings: Equatable {
        var bitRate: VideoBitRate
        var frameRate: Int
        /// Whether several receivers are sent the frames: they then come in two temporal layers, of which the upper one
        /// can be left out for one receiver. An encoder changes the number of its layers with its next keyframe.
        var isShared: Bool
        var preset: EncoderPreset
        /// The most bytes of the frame.
        var maximumSize: DataSize
    }

    /// Makes an encoder for pictures of a size.
    typealias Maker = @Sendable (VideoDimensions, CompressionProperties) throws(VideoCodingError) -> any PictureEncoding

    private let backEnd: EncoderBackEnd
    private let make: Maker?
    private let format: EncodeFormat
    private var session: (any PictureEncoding)?
    private var settings: Settings?
    private var hasLayers = false

    /// - Parameter make: Makes encoders of one's own; nil: they are sessions of the back end.
    init(backEnd: EncoderBackEnd, make: Maker? = nil, format: EncodeFormat) {
        self.backEnd = backEnd
        self.make = make
        self.format = format
    }

    func encode(
        _ picture: PixelBuffer, captureTime: MonotonicInstant, settings wanted: Settings, forceKeyFrame: Bool
    ) -> EncodedPicture {
        do throws(VideoCodingError) {
            let isOther = session.map { $0.dimensions != picture.dimensions } ?? false
            if isOther || (forceKeyFrame && hasLayers != wantsLayers(wanted)) { session = nil }
            let session = try session(wanted, dimensions: picture.dimensions)
            let frame = try session.encode(
                picture, presentationTime: MediaTime(captureTime), options: EncodeOptions(forceKeyFrame: forceKeyFrame))
            return EncodedPicture(captureTime: captureTime, frame: frame)
        } catch {
            // The next frame tries again with a new session.
            session = nil
            return EncodedPicture(captureTime: captureTime, error: error)
        }
    }

    private func session(
        _ wanted: Settings, dimensions: VideoDimensions
    ) throws(VideoCodingError) -> any PictureEncoding {
        if let session {
            if wanted != settings { try session.setProperties { wanted.apply(to: &$0) } }
            settings = wanted
            return session
        }
        var properties = format.properties
        wanted.apply(to: &properties)
        properties.temporalLayers = wantsLayers(wanted) ? DownlinkPipeline.temporalLayers : 1
        let made: any PictureEncoding =
            if let make {
                try make(dimensions, properties)
            } else {
                try SessionPictureEncoder(dimensions: dimensions, backEnd: backEnd, properties: properties)
            }
        session = made
        settings = wanted
        hasLayers = wantsLayers(wanted)
        return made
    }

    private func wantsLayers(_ settings: Settings) -> Bool { settings.isShared && backEnd.hasTemporalLayers }
}

extension EncoderBackEnd {
    /// Whether frames that no other refers to can be had in real time.
    var hasTemporalLayers: Bool { self == .openH264 }
}

extension LazyEncoder.Settings {
    fileprivate func apply(to properties: inout CompressionProperties) {
        properties.averageBitRate = bitRate.target
        properties.preset = preset
        properties.expectedFrameRate = Double(frameRate)
        properties.maxFrameBytes = maximumSize
    }
}
