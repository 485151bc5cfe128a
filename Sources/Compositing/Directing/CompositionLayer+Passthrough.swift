import MediaCore

extension CompositionLayer {
    /// Whether nothing of the canvas that a layer can cover is left beside it: of an odd canvas not the last column and
    /// row.
    func covers(_ canvas: VideoDimensions) -> Bool {
        rect.contains(PixelRect(x: 0, y: 0, width: canvas.width & ~1, height: canvas.height & ~1))
    }

    /// Whether a picture of the canvas's size would be seen unchanged, were it the only layer and without overlays.
    func isUnchanged(on canvas: VideoDimensions) -> Bool {
        rect == PixelRect(canvas) && opacity == 1 && cornerRadius == 0 && border == nil && !isDecorated
            && !containsTweening && (rotation == nil || rotation == VideoRotation.none)
    }
}
