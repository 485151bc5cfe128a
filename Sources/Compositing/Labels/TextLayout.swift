import CPangoCairo

/// A line of text that is laid out.
final class TextLayout {
    /// A rectangle in pixels, relative to the origin of the line's drawing.
    struct Extents {
        var x: Int
        var y: Int
        var width: Int
        var height: Int

        fileprivate init(_ rectangle: PangoRectangle) {
            (x, y) = (Int(rectangle.x), Int(rectangle.y))
            (width, height) = (Int(rectangle.width), Int(rectangle.height))
        }
    }

    private let layout: OpaquePointer
    /// The inked rectangle.
    let ink: Extents
    /// The extents of the line. A line from right to left may begin at the right of the maximum width.
    let logical: Extents
    let isEllipsized: Bool
    /// The distance from the top to the baseline, in pixels.
    let baseline: Double

    init(owning layout: OpaquePointer) {
        self.layout = layout
        var (ink, logical) = (PangoRectangle(), PangoRectangle())
        pango_layout_get_pixel_extents(layout, &ink, &logical)
        self.ink = Extents(ink)
        self.logical = Extents(logical)
        isEllipsized = pango_layout_is_ellipsized(layout) != 0
        baseline = Double(pango_layout_get_baseline(layout)) / Double(PANGO_SCALE)
    }

    deinit {
        g_object_unref(UnsafeMutableRawPointer(layout))
    }

    /// Draws the line in the context's colour, the line's origin at (`x`, `y`).
    func draw(on context: OpaquePointer?, x: Double, y: Double) {
        cairo_move_to(context, x, y)
        pango_cairo_show_layout(context, layout)
    }
}
