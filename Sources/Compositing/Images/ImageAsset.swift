public import MediaCore

/// A still image with transparency: a background, a logo or an avatar. Two images are equal if they are the same
/// object.
public final class ImageAsset: Sendable {
    /// Its name in messages and templates.
    public let name: String
    /// The picture as BGRA, with colours multiplied by alpha.
    public let picture: PixelBuffer

    public init(name: String, picture: PixelBuffer) {
        precondition(picture.format == .bgra, "an image asset is BGRA")
        self.name = name
        self.picture = picture
    }
}

extension ImageAsset: Hashable {
    public static func == (left: ImageAsset, right: ImageAsset) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
