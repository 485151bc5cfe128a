public import MediaCore
public import PixelTransfer

/// An overlay in the form that is blended onto a canvas. Two are equal if they show the same at the same place.
public struct PlacedOverlay: Sendable {
    let artwork: OverlayArtwork
    public let bitmap: OverlayBitmap
    /// The distance from the canvas's left edge, in luma samples.
    public let x: Int
    /// The distance from the canvas's upper edge, in luma samples.
    public let y: Int
    public let opacity: Opacity

    /// Its place on the canvas; never outside of it.
    public var rect: PixelRect {
        PixelRect(x: x, y: y, width: bitmap.dimensions.width, height: bitmap.dimensions.height)
    }

    /// Blends it onto a picture of the canvas.
    public func draw(on canvas: I420Region) { canvas.blend(bitmap, x: x, y: y, opacity: opacity) }
}

extension PlacedOverlay: Equatable {
    public static func == (left: PlacedOverlay, right: PlacedOverlay) -> Bool {
        left.x == right.x && left.y == right.y && left.opacity == right.opacity && left.artwork == right.artwork
    }
}
