public import MediaCore

/// A picture, or a part of it, and its place on another: how a device is told to scale and blend it.
public struct PictureLayer: Sendable {
    /// Without transparency, or in BGRA with colours that are multiplied by their alpha.
    public var picture: PixelBuffer
    /// The part of the picture that is shown, before its rotation; even.
    public var crop: PixelRect
    /// Makes the part upright, before it is scaled.
    public var rotation: VideoRotation
    /// The part fills it; even.
    public var place: PixelRect
    public var opacity: Opacity

    public init(
        _ picture: PixelBuffer, crop: PixelRect, rotation: VideoRotation = .none, place: PixelRect,
        opacity: Opacity = .opaque
    ) {
        self.picture = picture
        self.crop = crop
        self.rotation = rotation
        self.place = place
        self.opacity = opacity
    }
}
