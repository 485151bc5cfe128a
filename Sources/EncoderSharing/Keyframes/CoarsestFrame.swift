package import MediaCore

/// The size of an encoder's coarsest frames, as far as it is known.
///
/// A session leaves out a frame that is larger than it may be, however coarse, and asks for a keyframe in its place. Of
/// some content, such as dozens of small tiles full of detail, that is each of them: without another bound nothing
/// would ever be sent again, and the encoder would do nothing but try.
package struct CoarsestFrame {
    /// The least bound for the next frame; zero until a frame was left out.
    package private(set) var size = DataSize.zero

    package init() {}

    /// Content changes, so that with each keyframe a little less is tried.
    private static let decay = 0.95
    /// Of a picture that is not encoded, 4:2:0.
    private static let bytesPerSample = 1.5

    /// A frame of a picture of this size was left out that was to take no more than `bound`. None takes more than the
    /// picture itself does.
    package mutating func leftOut(bound: DataSize, dimensions: VideoDimensions) {
        let whole = Double(dimensions.area) * Self.bytesPerSample
        size = DataSize(bytes: min(2 * Double(max(size, bound).bytes), whole))
    }

    package mutating func keyframeEncoded() { size = DataSize(bytes: Self.decay * Double(size.bytes)) }
}
