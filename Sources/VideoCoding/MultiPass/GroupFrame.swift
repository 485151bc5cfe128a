import NIOCore

/// A frame out of a pass's encoder.
struct GroupFrame {
    /// NAL units behind their length in four bytes, without parameter sets.
    var data: ByteBuffer
    /// The frame's place in the order of presentation.
    var number: Int
    /// Whether it is an IDR picture.
    var isKeyFrame: Bool
    /// Whether other frames may refer to it.
    var isReference: Bool
    var averageQP: Int?
    /// SSIM of the luma plane, 1 for an exact copy.
    var structuralSimilarity: Double
}
