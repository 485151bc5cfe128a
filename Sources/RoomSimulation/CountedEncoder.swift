import Conference
import MediaCore
import VideoCoding

/// An encoder that is counted at each tick at which it works.
final class CountedEncoder: PictureEncoding {
    private let encoder: any PictureEncoding
    private let census: EncoderCensus

    init(_ encoder: any PictureEncoding, census: EncoderCensus) {
        self.encoder = encoder
        self.census = census
    }

    var dimensions: VideoDimensions { encoder.dimensions }

    func setProperties(_ change: (inout CompressionProperties) -> Void) throws(VideoCodingError) {
        try encoder.setProperties(change)
    }

    func encode(
        _ picture: PixelBuffer, presentationTime: MediaTime, options: EncodeOptions
    ) throws(VideoCodingError) -> EncodedFrame? {
        census.count(at: presentationTime)
        return try encoder.encode(picture, presentationTime: presentationTime, options: options)
    }
}
