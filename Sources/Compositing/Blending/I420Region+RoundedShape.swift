public import MediaCore
public import PixelTransfer

extension I420Region {
    /// Paints `shape` in one colour. The shape is as large as `rect`, which may be partly or wholly outside the region.
    ///
    /// If `rect` is too small for the shape's corners, all of it is painted, or nothing of `surroundings`.
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

    /// Shows the part of a layer inside `shape`, in its own size over the picture, its top left corner at (`x`, `y`).
    ///
    /// If the layer is too small for the shape's corners, all of it is shown, or nothing of `surroundings`.
    ///
    /// - Parameter rect: The rectangle that has the shape, if the layer is a part of it.
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
