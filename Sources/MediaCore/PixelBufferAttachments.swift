/// The properties of a picture besides its samples.
public struct PixelBufferAttachments: Hashable, Sendable {
    public var colour: ColourDescription
    /// The part that is meant to be seen; nil for all of it.
    public var cleanAperture: PixelRect?
    /// Width and height of a sample, as shown.
    public var pixelAspectRatio: VideoDimensions

    public init(
        colour: ColourDescription = .unspecified, cleanAperture: PixelRect? = nil,
        pixelAspectRatio: VideoDimensions = VideoDimensions(width: 1, height: 1)
    ) {
        self.colour = colour
        self.cleanAperture = cleanAperture
        self.pixelAspectRatio = pixelAspectRatio
    }
}
