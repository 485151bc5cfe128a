public import MediaCore

/// A picture for a request, and how it came about.
public struct ComposedPicture: Sendable {
    public enum Origin: Hashable, Sendable {
        /// It was rendered.
        case rendered
        /// Nothing has changed since it was rendered, or another request of the same call was the same.
        case reused
        /// It is the source's own picture, the very same memory.
        case passthrough(SourceID)
        /// It could not be rendered: this is the last good picture, or plain background where there is none.
        case fallback(VideoCompositingError)
    }

    public var picture: PixelBuffer
    public var origin: Origin

    public init(picture: PixelBuffer, origin: Origin) {
        self.picture = picture
        self.origin = origin
    }
}
