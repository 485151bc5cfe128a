public import MediaCore

/// Blending in 4:2:0. Positions are in samples from the region's top left corner, odd and outside ones included;
/// samples outside the region, or outside `clip`, are not changed. Nothing is allocated.
///
/// A partly covered chroma sample takes its part of the colour. So colours do not bleed, and nothing jumps by two
/// samples when a layer moves by one. The edges of `clip` are even, or those of the region.
extension I420Region {
    /// Blends a bitmap, its top left corner at (`x`, `y`).
    public func blend(
        _ overlay: OverlayBitmap, x: Int, y: Int, clip: PixelRect? = nil, opacity: Opacity = .opaque
    ) {
        forEachPlane(under: overlay.mask, x: x, y: y, clip: clip, opacity: opacity) { plane, alpha, offset, target in
            let samples =
                switch plane {
                case .luma: overlay.luma
                case .u: overlay.u.plane(x: x, y: y)
                case .v: overlay.v.plane(x: x, y: y)
                }
            samples.bytes.withUnsafeBufferPointer { bytes in
                guard let base = bytes.baseAddress else { return }
                let source = PlaneBlender.Samples(
                    base: base + offset.y * samples.width + offset.x, stride: samples.width)
                PlaneBlender.blend(.samples(source), alpha: alpha, opacity: opacity, onto: target)
            }
        }
    }

    /// Paints one colour in the shape of `mask`, whose top left corner is at (`x`, `y`).
    public func fill(
        _ colour: YCbCrColour, mask: AlphaMask, x: Int, y: Int, clip: PixelRect? = nil, opacity: Opacity = .opaque
    ) {
        forEachPlane(under: mask, x: x, y: y, clip: clip, opacity: opacity) { plane, alpha, _, target in
            PlaneBlender.blend(.constant(colour[plane]), alpha: alpha, opacity: opacity, onto: target)
        }
    }

    /// Paints a rectangle in one colour.
    public func fill(_ rect: PixelRect, with colour: YCbCrColour, opacity: Opacity = .opaque) {
        forEachPlane(of: rect, clip: nil, opacity: opacity) { plane, _, target, opacity in
            PlaneBlender.mix(.constant(colour[plane]), opacity: opacity, onto: target)
        }
    }

    /// Blends a layer in its own size, its top left corner at (`x`, `y`).
    ///
    /// - Parameter layer: A region of another picture.
    public func blend(_ layer: I420Region, x: Int, y: Int, clip: PixelRect? = nil, opacity: Opacity = .opaque) {
        let rect = PixelRect(x: x, y: y, width: layer.width, height: layer.height)
        forEachPlane(of: rect, clip: clip, opacity: opacity) { plane, origin, target, opacity in
            let source = layer.source(plane, from: origin, placedAt: (x, y))
            PlaneBlender.mix(source, opacity: opacity, onto: target)
        }
    }

    /// Blends the part of a layer in the shape of `mask`, whose top left corner is at (`maskX`, `maskY`).
    ///
    /// - Parameter layer: A region of another picture.
    public func blend(
        _ layer: I420Region, x: Int, y: Int, mask: AlphaMask, maskX: Int, maskY: Int, clip: PixelRect? = nil,
        opacity: Opacity = .opaque
    ) {
        guard let clip = bounds(of: layer, x: x, y: y, clip) else { return }
        forEachPlane(under: mask, x: maskX, y: maskY, clip: clip, opacity: opacity) { plane, alpha, offset, target in
            let origin =
                plane == .luma
                ? (x: maskX + offset.x, y: maskY + offset.y) : (x: (maskX >> 1) + offset.x, y: (maskY >> 1) + offset.y)
            let source = layer.source(plane, from: origin, placedAt: (x, y))
            PlaneBlender.blend(source, alpha: alpha, opacity: opacity, onto: target)
        }
    }

    /// Darkens all of the region: of its luma above black, `opacity` is left.
    public func dim(to opacity: Opacity = Opacity(0.5)) {
        guard opacity != .opaque else { return }
        let target = PlaneBlender.Target(base: y, stride: lumaStride, width: width, height: height)
        PlaneBlender.attenuate(target, towards: YCbCrColour.black.y, opacity: opacity)
    }
}
