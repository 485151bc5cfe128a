package import MediaCore

/// The abilities of a video processor.
package struct VideoProcessingAbilities: Hashable, Sendable {
    /// True if a layer's opacity may be other than full.
    package var blendsOpacity: Bool
    /// True if layers may be in BGRA, with alpha.
    package var blendsGraphics: Bool
    package var rotations: [VideoRotation]
    /// The least side of a picture, of its part and of its place.
    package var leastSide: Int
    package var maximumDimensions: VideoDimensions
}
