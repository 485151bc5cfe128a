import MediaCore

/// The rate of frames and of their bits.
struct EncodingRate: Hashable {
    var bitRate: BitRate
    var frameRate: Double

    /// The bits due to each frame.
    var frameBits: Double { Double(bitRate.bitsPerSecond) / max(1, frameRate) }
}

extension EncodingRate {
    init(_ properties: CompressionProperties) {
        self.init(bitRate: properties.targetBitRate, frameRate: properties.expectedFrameRate)
    }
}
