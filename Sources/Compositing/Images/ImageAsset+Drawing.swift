import CPangoCairo
import MediaCore

extension ImageAsset {
    /// Draws all of the image into a rectangle, stretched to it.
    func draw(on context: OpaquePointer?, x: Double, y: Double, width: Double, height: Double) {
        let size = picture.dimensions
        picture.withPlane(0) { bytes, stride in
            guard let base = bytes.baseAddress else { return }
            // Cairo only reads what is drawn from.
            let surface = cairo_image_surface_create_for_data(
                UnsafeMutableRawPointer(mutating: base).assumingMemoryBound(to: UInt8.self), CAIRO_FORMAT_ARGB32,
                Int32(clamping: size.width), Int32(clamping: size.height), Int32(clamping: stride))
            cairo_save(context)
            cairo_translate(context, x, y)
            cairo_rectangle(context, 0, 0, width, height)
            cairo_clip(context)
            cairo_scale(context, width / Double(size.width), height / Double(size.height))
            cairo_set_source_surface(context, surface, 0, 0)
            let pattern = cairo_get_source(context)
            cairo_pattern_set_extend(pattern, CAIRO_EXTEND_PAD)
            cairo_pattern_set_filter(pattern, CAIRO_FILTER_GOOD)
            cairo_paint(context)
            cairo_restore(context)
            // The memory is lent for this call alone.
            cairo_surface_finish(surface)
            cairo_surface_destroy(surface)
        }
    }

    /// Draws the image over a rectangle: its middle fills it, what is too wide or too high is cut off.
    func draw(on context: OpaquePointer?, coveringX x: Double, y: Double, width: Double, height: Double) {
        let size = picture.dimensions
        let scale = max(width / Double(size.width), height / Double(size.height))
        let (fullWidth, fullHeight) = (Double(size.width) * scale, Double(size.height) * scale)
        cairo_save(context)
        cairo_rectangle(context, x, y, width, height)
        cairo_clip(context)
        draw(
            on: context, x: x + (width - fullWidth) / 2, y: y + (height - fullHeight) / 2, width: fullWidth,
            height: fullHeight)
        cairo_restore(context)
    }

    /// Draws the image as somebody's portrait in the middle of a tile: round, with a light edge.
    func drawPortrait(on context: OpaquePointer?, tile: VideoDimensions) {
        let (width, height) = (Double(tile.width), Double(tile.height))
        let radius = min(width, height) * 0.36
        cairo_save(context)
        cairo_new_sub_path(context)
        cairo_arc(context, width / 2, height / 2, radius, 0, 2 * .pi)
        cairo_clip(context)
        draw(
            on: context, coveringX: width / 2 - radius, y: height / 2 - radius, width: 2 * radius, height: 2 * radius)
        cairo_restore(context)
        cairo_new_sub_path(context)
        cairo_arc(context, width / 2, height / 2, radius, 0, 2 * .pi)
        cairo_set_source_rgba(context, 1, 1, 1, 0.85)
        cairo_set_line_width(context, max(1, radius / 24))
        cairo_stroke(context)
    }
}
