import CPangoCairo
import Synchronization

/// The installed fonts with Pango's caches. It lays out text in every script of these fonts.
///
/// All text of the process is laid out and drawn with this collection, by one thread at a time. Cairo shares each font
/// file's face among all users, and when many are open it may close a face while another thread begins to use it (1.16,
/// `_cairo_ft_unscaled_font_lock_face`). Text is drawn only when it is new; composing does not need the collection.
///
/// The first text in a script takes some milliseconds, tens of them in a process that has drawn none; each further text
/// takes a fraction of one.
final class FontCollection {
    private static let shared = Mutex(FontCollection())

    /// Calls `body` with the collection once no other thread uses it. All of drawing text belongs into `body`, from
    /// laying out to the end of the drawing's context, which refers to fonts.
    static func use<Result: Sendable>(_ body: (FontCollection) -> Result) -> Result {
        shared.withLock { body($0) }
    }

    /// The number of texts after which the font map is replaced. Pango remembers each glyph, so names in many scripts
    /// and sizes would fill the memory in the course of months.
    private static let textsPerFontMap = 4096

    private var fonts = Fonts()
    private var textCount = 0

    /// Lays out one line.
    ///
    /// - Parameters:
    ///   - size: The size of the font, in pixels to the em.
    ///   - maximumWidth: The width in pixels from which the line is cut with an ellipsis. Nil for no limit.
    /// - Returns: The layout; nil if Pango has no memory.
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

    /// A font map and a context of its own, which are released together.
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
