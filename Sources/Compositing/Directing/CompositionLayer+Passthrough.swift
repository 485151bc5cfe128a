import MediaCore

extension CompositionLayer {
    /// Returns true if a layer leaves nothing of the canvas free that it could cover: the last column and row of an odd
    /// canvas do not count.
    func covers(_ canvas: VideoDimensions) -> Bool {
        rect.contains(PixelRect(x: 0, y: 0, width: canvas.width & ~1, height: canvas.height & ~1))
    }

    /// Returns true if a picture of the canvas's size would be seen unchanged, as the only layer without overlays.
    func isUnchanged(on canvas: VideoDimensions) -> Bool {
        rect == PixelRect(canvas) && opacity == 1 && cornerRadius == 0 && border == nil && !isDecorated
            && !containsTweening && (rotation == nil || rotation == VideoRotation.none)
    }
}
