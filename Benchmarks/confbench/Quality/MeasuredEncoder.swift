import Conference
import MediaCore
import VideoCoding

/// A compression session whose processor time is counted.
final class MeasuredEncoder: PictureEncoding {
    private let session: CompressionSession
    private let outputs = EncodeOutputQueue()
    private let preset: EncoderPreset
    private let work: QualityWork

    init(
        dimensions: VideoDimensions, properties: CompressionProperties, preset: EncoderPreset, work: QualityWork
    ) throws(VideoCodingError) {
        var properties = properties
        properties.preset = preset
        session = try CompressionSession(
            dimensions: dimensions, backEnd: .openH264, properties: properties, outputHandler: outputs.append)
        self.preset = preset
        self.work = work
    }

    var dimensions: VideoDimensions { session.dimensions }

    func setProperties(_ change: (inout CompressionProperties) -> Void) throws(VideoCodingError) {
        try session.setProperties {
            change(&$0)
            $0.preset = preset
        }
    }

    func encode(
        _ picture: PixelBuffer, presentationTime: MediaTime, options: EncodeOptions
    ) throws(VideoCodingError) -> EncodedFrame? {
        let began = ThreadClock.now()
        try session.encode(picture, presentationTime: presentationTime, options: options)
        let output = outputs.next()
        let spent = ThreadClock.now() - began
        work.addFrame(
            output?.frame?.sample, spent: spent,
            at: MonotonicInstant(nanoseconds: presentationTime.duration.nanoseconds))
        switch output?.result {
        case .frame(let frame): return frame
        case .failed(let error): throw error
        case .dropped, nil: return nil
        }
    }
}
