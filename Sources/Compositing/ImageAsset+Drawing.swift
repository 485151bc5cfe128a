import CPangoCairo
import MediaCore
import PixelTransfer

extension ImageAsset {
    /// Draws the image so that it fills a rectangle. The excess of width or height is cut off on both sides.
    func draw(on context: OpaquePointer?, covering rect: PixelRect) {
        let size = picture.dimensions
        guard size.width > 0, size.height > 0, !rect.isEmpty else { return }
        picture.withPlanes { planes in
            // The memory is only read.
            let surface = cairo_image_surface_create_for_data(
                planes[0].base.assumingMemoryBound(to: UInt8.self), CAIRO_FORMAT_ARGB32, Int32(clamping: size.width),
                Int32(clamping: size.height), Int32(clamping: planes[0].stride))
            defer { cairo_surface_destroy(surface) }
            guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS else { return }
            cairo_save(context)
            defer { cairo_restore(context) }
            cairo_rectangle(context, Double(rect.x), Double(rect.y), Double(rect.width), Double(rect.height))
            cairo_clip(context)
            let scale = max(Double(rect.width) / Double(size.width), Double(rect.height) / Double(size.height))
            cairo_translate(
                context, Double(rect.x) + (Double(rect.width) - scale * Double(size.width)) / 2,
                Double(rect.y) + (Double(rect.height) - scale * Double(size.height)) / 2)
            cairo_scale(context, scale, scale)
            cairo_set_source_surface(context, surface, 0, 0)
            cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_GOOD)
            cairo_pattern_set_extend(cairo_get_source(context), CAIRO_EXTEND_PAD)
            cairo_paint(context)
        }
    }
}

extension PixelBuffer {
    /// An opaque picture (I420) drawn with cairo; one colour if it is too large for that, or there is no memory.
    static func drawn(
        _ size: VideoDimensions, orFilledWith colour: YCbCrColour, _ draw: (_ context: OpaquePointer?) -> Void
    ) -> PixelBuffer {
        var result = MutablePixelBuffer(format: .i420, dimensions: size)
        result.withI420Region { region in
            let surface = cairo_image_surface_create(
                CAIRO_FORMAT_RGB24, Int32(clamping: size.width), Int32(clamping: size.height))
            defer { cairo_surface_destroy(surface) }
            if cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS {
                let context = cairo_create(surface)
                draw(context)
                cairo_destroy(context)
                cairo_surface_flush(surface)
            }
            if let bytes = cairo_image_surface_get_data(surface) {
                region.convert(bgra: bytes, stride: Int(cairo_image_surface_get_stride(surface)))
            } else {
                region.fill(PixelRect(size), with: colour)
            }
        }
        return result.freeze()
    }
}
