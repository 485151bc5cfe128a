package import MediaCore
package import PixelTransfer

/// Scales and blends pictures in place of the processor.
package protocol CompositingDevice: AnyObject {
    var compositingAbilities: CompositingAbilities { get }

    /// Lays pictures over each other, the lowest first, which covers the canvas.
    ///
    /// - Parameters:
    ///   - layers: What they hold afterwards is undefined.
    ///   - tick: The number of the renderer's call; pictures of this one and the one before come again.
    ///   - canvas: An I420 picture, which gets the result.
    /// - Returns: The canvas; nil where the device failed.
    func compose(
        _ layers: inout [PictureLayer], tick: Int, into canvas: consuming MutablePixelBuffer
    ) -> MutablePixelBuffer?

    /// True if canvases can stay in the device's memory, for others there.
    var keepsCanvases: Bool { get }

    /// Does the same, and leaves the canvas in the device's memory, in NV12; nil where the device failed, or keeps
    /// none any more.
    func compose(
        _ layers: inout [PictureLayer], tick: Int, canvas: VideoDimensions, attachments: PixelBufferAttachments
    ) -> PixelBuffer?
}

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
