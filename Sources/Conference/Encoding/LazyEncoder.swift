import CongestionControl
import EncoderSharing
import MediaCore
import PeerConnection
import VideoCoding

/// An encoder that its first job makes, on the worker, so that a join does not delay the room's loop. It is made again
/// for pictures of another size, and then begins with a keyframe.
final class LazyEncoder {
    /// Settings that may change between two frames.
    struct Settings: Equatable {
        var bitRate: VideoBitRate
        var frameRate: Int
        /// True if several receivers get the frames: they then have temporal layers, of which the upper ones can be
        /// dropped for one receiver. An encoder changes the number of its layers with its next keyframe.
        var isShared: Bool
        /// True if the single receiver continues after a loss with pictures that refer to received ones, or that are
        /// refreshed part by part. An encoder keeps the references for this from its next keyframe on.
        var recovers: Bool
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
    private var form = Form(layers: 1, recovery: .keyframes)

    /// Settings that stay until a keyframe.
    private struct Form: Equatable {
        var layers: Int
        var recovery: LossRecovery
    }

    /// - Parameter make: Makes custom encoders; nil: they are sessions of the back end.
    init(backEnd: EncoderBackEnd, make: Maker? = nil, format: EncodeFormat) {
        self.backEnd = backEnd
        self.make = make
        self.format = format
    }

    func encode(
        _ picture: PixelBuffer, captureTime: MonotonicInstant, settings wanted: Settings, options: EncodeOptions
    ) -> EncodedPicture {
        do throws(VideoCodingError) {
            let isOther = session.map { $0.dimensions != picture.dimensions } ?? false
            if isOther || (options.forceKeyframe && form != form(wanted)) { session = nil }
            let session = try session(wanted, dimensions: picture.dimensions)
            let frame = try session.encode(picture, presentationTime: MediaTime(captureTime), options: options)
            var result = EncodedPicture(captureTime: captureTime, frame: frame, recovery: form.recovery)
            if options.invalidateReferencesBackTo != nil { result.tellRefresh() }
            return result
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
        let form = form(wanted)
        properties.temporalLayers = form.layers
        switch form.recovery {
        case .keyframes: break
        case .longTermReferences: properties.longTermReferences = true
        case .intraRefresh: properties.intraRefreshPeriod = max(2, wanted.frameRate)
        }
        let made: any PictureEncoding =
            if let make {
                try make(dimensions, properties)
            } else {
                try SessionPictureEncoder(dimensions: dimensions, backEnd: backEnd, properties: properties)
            }
        session = made
        settings = wanted
        self.form = form
        return made
    }

    private func form(_ settings: Settings) -> Form {
        Form(
            layers: settings.isShared && backEnd.hasTemporalLayers ? DownlinkPipeline.temporalLayers : 1,
            recovery: settings.recovers && !settings.isShared ? backEnd.recovery : .keyframes)
    }
}

extension EncoderBackEnd {
    /// True if it makes frames in real time that no other refers to.
    var hasTemporalLayers: Bool { self == .openH264 }

    /// The ability to help a receiver that needs no keyframe after a loss. x264 also keeps older frames, but as
    /// short-term references, which not every decoder finds after a gap.
    var recovery: LossRecovery {
        switch self {
        case .openH264: .longTermReferences
        case .x264: .intraRefresh(round: .seconds(1))
        }
    }
}

extension LazyEncoder.Settings {
    fileprivate func apply(to properties: inout CompressionProperties) {
        properties.averageBitRate = bitRate.target
        properties.preset = preset
        properties.expectedFrameRate = Double(frameRate)
        properties.maxFrameBytes = maximumSize
    }
}
