import MediaCore

/// What the coarsest frames of an encoder take, as far as that is known.
///
/// A session leaves out a frame that is larger than it may be, however coarse, and asks for a keyframe in its place. Of some
/// content, such as dozens of small tiles full of detail, that is each of them: without another bound nothing would ever be sent
/// again, and the encoder would do nothing but try.
struct CoarsestFrame {
    /// What the next frame may take, whatever it is to take; zero until one was left out.
    private(set) var size = DataSize.zero

    /// Content changes, so that with each keyframe a little less is tried.
    private static let decay = 0.95

    /// A frame was left out that was to take no more than `bound`.
    mutating func leftOut(bound: DataSize) { size = DataSize(bytes: 2 * Double(max(size, bound).bytes)) }

    mutating func keyFrameEncoded() { size = DataSize(bytes: Self.decay * Double(size.bytes)) }
}
