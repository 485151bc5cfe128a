import NIOCore

/// A frame out of a pass's encoder.
struct GroupFrame {
    /// NAL units behind their length in four bytes, without parameter sets.
    var data: ByteBuffer
    /// The frame's place in the order of presentation.
    var number: Int
    /// The caller's token of the picture.
    var serial: Int64
    /// True if the frame is an IDR picture.
    var isKeyframe: Bool
    var temporalLayer: Int
    var averageQP: Int?
    /// The SSIM of the luma plane, 1 for an exact copy.
    var structuralSimilarity: Double
}
