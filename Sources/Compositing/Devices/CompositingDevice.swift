package import MediaCore
package import PixelTransfer

/// Scales and blends pictures in place of the processor.
package protocol CompositingDevice: AnyObject {
    /// The processor draws what these leave out.
    var abilities: CompositingAbilities { get }

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

extension CompositingDevice {
    /// Returns true if canvases of this size are made: chroma is shared by two columns and rows.
    package func composes(_ canvas: VideoDimensions) -> Bool {
        canvas.width.isMultiple(of: 2) && canvas.height.isMultiple(of: 2) && abilities.take(canvas)
    }
}
