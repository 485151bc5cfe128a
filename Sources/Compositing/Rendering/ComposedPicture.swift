public import MediaCore

/// A picture for a request, and how it came about.
public struct ComposedPicture: Sendable {
    public enum Origin: Hashable, Sendable {
        /// The compositor rendered the picture.
        case rendered
        /// Nothing has changed since it was rendered, or it is the picture of an equal request of the same call.
        case reused
        /// The picture is the source's own, in the same memory.
        case passthrough(SourceID)
        /// Rendering failed: this is the last good picture, or plain background if there is none.
        case fallback(VideoCompositingError)
    }

    public var picture: PixelBuffer
    public var origin: Origin
}
