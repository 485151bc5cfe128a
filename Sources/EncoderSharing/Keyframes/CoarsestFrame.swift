package import MediaCore

/// The size of an encoder's coarsest frames, as far as it is known.
///
/// A session drops a frame that exceeds its limit at every QP, and requests a keyframe in its place. With some content,
/// such as dozens of small tiles full of detail, every keyframe does: without another limit nothing would ever be sent
/// again, and the encoder would try for ever.
package struct CoarsestFrame {
    /// The least bound for the next frame; zero until a frame was left out.
    package private(set) var size = DataSize.zero

    package init() {}

    /// The factor by which the size falls with each keyframe, because content changes.
    private static let decay = 0.95
    /// The size of an unencoded 4:2:0 picture, per sample.
    private static let bytesPerSample = 1.5

    /// A frame of a picture of this size was left out that was to take no more than `bound`. None takes more than the
    /// picture itself does.
    package mutating func leftOut(bound: DataSize, dimensions: VideoDimensions) {
        let whole = Double(dimensions.area) * Self.bytesPerSample
        size = DataSize(bytes: min(2 * Double(max(size, bound).bytes), whole))
    }

    package mutating func keyframeEncoded() { size = DataSize(bytes: Self.decay * Double(size.bytes)) }
}
