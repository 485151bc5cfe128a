public import MediaCore
public import PixelTransfer

extension I420Region {
    /// Paints `shape` in one colour: as large as `rect`, which is anywhere, or partly or wholly outside the region.
    ///
    /// Where `rect` has no room for the shape's corners, all of it is painted, or nothing of `surroundings`.
    public func fill(_ rect: PixelRect, shape: RoundedShape, with colour: YCbCrColour, opacity: Opacity = .opaque) {
        guard let parts = RoundedShape.Parts(rect, extent: shape.extent) else {
            if shape.kind != .surroundings { fill(rect, with: colour, opacity: opacity) }
            return
        }
        parts.forEachStraightPart(of: shape.kind) { fill($0, with: colour, opacity: opacity) }
        RoundedShape.Corner.visitAll { corner in
            let mask = shape.mask(corner)
            let origin = parts.origin(corner, side: mask.dimensions.width)
            fill(colour, mask: mask, x: origin.x, y: origin.y, clip: parts[corner], opacity: opacity)
        }
    }

    /// Shows what of a layer is in `shape`, in its own size over what is there, its top left corner at (`x`, `y`).
    ///
    /// Where the layer has no room for the shape's corners, all of it is shown, or nothing of `surroundings`.
    ///
    /// - Parameter rect: What has the shape, where the layer is a part of that.
    public func blend(
        _ layer: I420Region, x: Int, y: Int, shape: RoundedShape, of rect: PixelRect? = nil, opacity: Opacity = .opaque
    ) {
        let layerRect = PixelRect(x: x, y: y, width: layer.dimensions.width, height: layer.dimensions.height)
        guard let parts = RoundedShape.Parts(rect ?? layerRect, extent: shape.extent) else {
            if shape.kind != .surroundings { blend(layer, x: x, y: y, opacity: opacity) }
            return
        }
        parts.forEachStraightPart(of: shape.kind) { blend(layer, x: x, y: y, clip: $0, opacity: opacity) }
        RoundedShape.Corner.visitAll { corner in
            let mask = shape.mask(corner)
            let origin = parts.origin(corner, side: mask.dimensions.width)
            blend(
                layer, x: x, y: y, mask: mask, maskX: origin.x, maskY: origin.y, clip: parts[corner],
                opacity: opacity)
        }
    }
}
