package import MediaCore

/// What a video processor can do with pictures.
package struct VideoProcessingAbilities: Hashable, Sendable {
    /// Whether a layer's opacity may be other than full.
    package var blendsOpacity: Bool
    /// Whether layers may be in BGRA, with alpha.
    package var blendsGraphics: Bool
    package var rotations: [VideoRotation]
    /// The least side of a picture, of its part and of its place.
    package var leastSide: Int
    package var maximumDimensions: VideoDimensions
}
