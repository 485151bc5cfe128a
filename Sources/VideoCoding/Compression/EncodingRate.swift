import MediaCore

/// What frames are to cost.
struct EncodingRate: Hashable {
    var bitRate: BitRate
    var frameRate: Double

    init(bitRate: BitRate, frameRate: Double) {
        self.bitRate = bitRate
        self.frameRate = frameRate
    }

    init(_ properties: CompressionProperties) {
        self.init(bitRate: properties.targetBitRate, frameRate: properties.expectedFrameRate)
    }

    /// What is due to each frame, in bits.
    var frameBits: Double { Double(bitRate.bitsPerSecond) / max(1, frameRate) }
}
