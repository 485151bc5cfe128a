import Conference
import MediaCore
import VideoCoding

/// A compression session whose processor time is counted.
final class MeasuredEncoder: PictureEncoding {
    private let encoder: SessionPictureEncoder
    private let preset: EncoderPreset
    private let work: QualityWork

    init(
        dimensions: VideoDimensions, properties: CompressionProperties, preset: EncoderPreset, work: QualityWork
    ) throws(VideoCodingError) {
        var properties = properties
        properties.preset = preset
        encoder = try SessionPictureEncoder(dimensions: dimensions, backEnd: .openH264, properties: properties)
        self.preset = preset
        self.work = work
    }

    var dimensions: VideoDimensions { encoder.dimensions }

    func setProperties(_ change: (inout CompressionProperties) -> Void) throws(VideoCodingError) {
        try encoder.setProperties {
            change(&$0)
            $0.preset = preset
        }
    }

    func encode(
        _ picture: PixelBuffer, presentationTime: MediaTime, options: EncodeOptions
    ) throws(VideoCodingError) -> EncodedFrame? {
        let began = ThreadClock.now()
        let frame = try encoder.encode(picture, presentationTime: presentationTime, options: options)
        work.addFrame(
            frame?.sample, spent: ThreadClock.now() - began,
            at: MonotonicInstant(nanoseconds: presentationTime.duration.nanoseconds))
        return frame
    }
}
