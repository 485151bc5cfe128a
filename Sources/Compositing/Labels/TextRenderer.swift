import CPangoCairo

/// Lays text out with Pango, in every script that the fonts installed have, and draws it with cairo. Belongs to one caller
/// at a time.
///
/// It has its own fonts and what Pango remembers of them. The first text in a script costs some milliseconds (tens in a
/// process that has drawn none), each further one some hundredths.
final class TextRenderer {
    /// Pango remembers each glyph that it was asked for. After as many texts it begins anew, so that names of many scripts
    /// and sizes do not fill the memory in the course of months.
    private static let textsPerFontMap = 4096

    private var fonts = Fonts()
    private var textCount = 0

    /// Lays out one line.
    ///
    /// - Parameters:
    ///   - size: Of the font, in pixels to the em.
    ///   - maximumWidth: In pixels; what is longer ends with an ellipsis. Nil for any.
    /// - Returns: Nil where Pango has no memory or no font at all.
    func layOut(_ text: String, size: Double, maximumWidth: Int? = nil) -> TextLayout? {
        if textCount == Self.textsPerFontMap {
            fonts = Fonts()
            textCount = 0
        }
        textCount += 1
        guard let context = fonts.context, let layout = pango_layout_new(context) else { return nil }
        let font = pango_font_description_new()
        defer { pango_font_description_free(font) }
        pango_font_description_set_family_static(font, "Sans")
        pango_font_description_set_weight(font, PANGO_WEIGHT_MEDIUM)
        pango_font_description_set_absolute_size(font, size * Double(PANGO_SCALE))
        pango_layout_set_font_description(layout, font)
        pango_layout_set_single_paragraph_mode(layout, 1)
        if let maximumWidth {
            pango_layout_set_width(layout, Int32(clamping: maximumWidth * Int(PANGO_SCALE)))
            pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
        }
        pango_layout_set_text(layout, text, -1)
        return TextLayout(owning: layout)
    }

    /// A font map and a context of its own, let go of together.
    private final class Fonts {
        private let map = pango_cairo_font_map_new()
        let context: OpaquePointer?

        init() {
            context = map.flatMap { pango_font_map_create_context($0) }
            guard let context else { return }
            // The same pixels whatever the desktop's settings are.
            let options = cairo_font_options_create()
            defer { cairo_font_options_destroy(options) }
            cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY)
            cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT)
            cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF)
            pango_cairo_context_set_font_options(context, options)
        }

        deinit {
            if let context { g_object_unref(UnsafeMutableRawPointer(context)) }
            if let map { g_object_unref(UnsafeMutableRawPointer(map)) }
        }
    }
}

/// A line of text that is laid out.
final class TextLayout {
    /// A rectangle in pixels, from where the line's drawing begins.
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
    /// What is inked.
    let ink: Extents
    /// What the line takes up; a line from right to left may begin at the right of the maximum width.
    let logical: Extents
    let isEllipsized: Bool
    /// How far below its top the line's letters stand, in pixels.
    let baseline: Double

    fileprivate init(owning layout: OpaquePointer) {
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
