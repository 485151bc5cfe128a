package import MediaCore

/// The abilities of a device; the processor draws the rest.
package struct CompositingAbilities: Hashable, Sendable {
    /// True if a layer's opacity may be other than full.
    package var blendsOpacity: Bool
    /// True if pictures may be in BGRA, and the ones below seen through them.
    package var blendsGraphics: Bool
    package var rotations: [VideoRotation]
    /// The least side of a picture, of its part and of its place.
    package var leastSide: Int
    package var maximumDimensions: VideoDimensions

    package init(
        blendsOpacity: Bool, blendsGraphics: Bool, rotations: [VideoRotation], leastSide: Int,
        maximumDimensions: VideoDimensions
    ) {
        self.blendsOpacity = blendsOpacity
        self.blendsGraphics = blendsGraphics
        self.rotations = rotations
        self.leastSide = leastSide
        self.maximumDimensions = maximumDimensions
    }

    /// Returns true if the device takes pictures, or parts of them, of this size.
    package func take(_ dimensions: VideoDimensions) -> Bool {
        min(dimensions.width, dimensions.height) >= leastSide && dimensions.width <= maximumDimensions.width
            && dimensions.height <= maximumDimensions.height
    }
}
