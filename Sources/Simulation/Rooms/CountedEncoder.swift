import Conference
import MediaCore
import VideoCoding

/// An encoder that reports each tick at which it works to `EncoderStatistics`.
final class CountedEncoder: PictureEncoding {
    private let encoder: any PictureEncoding
    private let statistics: EncoderStatistics

    init(_ encoder: any PictureEncoding, statistics: EncoderStatistics) {
        self.encoder = encoder
        self.statistics = statistics
    }

    var dimensions: VideoDimensions { encoder.dimensions }

    func setProperties(_ change: (inout CompressionProperties) -> Void) throws(VideoCodingError) {
        try encoder.setProperties(change)
    }

    func encode(
        _ picture: PixelBuffer, presentationTime: MediaTime, options: EncodeOptions
    ) throws(VideoCodingError) -> EncodedFrame? {
        statistics.count(at: presentationTime)
        return try encoder.encode(picture, presentationTime: presentationTime, options: options)
    }
}
