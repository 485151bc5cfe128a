import CPangoCairo
import MediaCore
import PixelTransfer

/// Draws placeholders and keeps those drawn lately, so that a name is laid out once for each tile size.
struct PlaceholderRenderer {
    private struct Key: Hashable {
        var style: PlaceholderStyle
        var size: VideoDimensions
    }

    private struct Entry {
        var picture: PixelBuffer
        var lastUse: Int
    }

    /// How many luma samples are kept in all; what was not used for longest goes first.
    private let capacity: Int
    private var entries: [Key: Entry] = [:]
    private var keptSamples = 0
    private var useCount = 0
    /// How many were drawn.
    private(set) var renderCount = 0

    init(capacity: Int = 24 << 20) {
        self.capacity = capacity
    }

    /// The placeholder in exactly this size, which is even.
    mutating func picture(style: PlaceholderStyle, size: VideoDimensions) -> PixelBuffer {
        useCount += 1
        let key = Key(style: style, size: size)
        if let index = entries.index(forKey: key) {
            entries.values[index].lastUse = useCount
            return entries.values[index].picture
        }
        let picture = Self.render(style: style, size: size)
        renderCount += 1
        keptSamples += size.area
        entries[key] = Entry(picture: picture, lastUse: useCount)
        while keptSamples > capacity, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            entries[oldest.key] = nil
            keptSamples -= oldest.key.size.area
        }
        return picture
    }

    private static func render(style: PlaceholderStyle, size: VideoDimensions) -> PixelBuffer {
        var result = MutablePixelBuffer(format: .i420, dimensions: size)
        result.withMutablePlanes { planes in
            let region = I420Region(planes: planes, dimensions: size)
            let surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, Int32(size.width), Int32(size.height))
            defer { cairo_surface_destroy(surface) }
            if cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS {
                draw(style, size: size, on: surface)
                cairo_surface_flush(surface)
            }
            if let bytes = cairo_image_surface_get_data(surface) {
                region.convert(bgra: bytes, stride: Int(cairo_image_surface_get_stride(surface)))
            } else {
                // Too large for cairo, or no memory: plain grey.
                region.fill(luma: 96)
            }
        }
        return result.freeze()
    }

    private static func draw(_ style: PlaceholderStyle, size: VideoDimensions, on surface: OpaquePointer?) {
        let context = cairo_create(surface)
        defer { cairo_destroy(context) }
        let colour = style.colour
        cairo_set_source_rgb(context, colour.red, colour.green, colour.blue)
        cairo_paint(context)

        guard let layout = pango_cairo_create_layout(context) else { return }
        defer { g_object_unref(UnsafeMutableRawPointer(layout)) }
        let font = pango_font_description_new()
        defer { pango_font_description_free(font) }
        pango_font_description_set_family_static(font, "Sans")
        pango_font_description_set_weight(font, PANGO_WEIGHT_MEDIUM)
        pango_font_description_set_absolute_size(
            font, Double(min(size.width, size.height)) * 0.5 * Double(PANGO_SCALE))
        pango_layout_set_font_description(layout, font)
        pango_layout_set_text(layout, style.initial, -1)

        // Centred by what is inked: a letter's line has room above and below that would put it off the middle.
        var ink = PangoRectangle()
        pango_layout_get_pixel_extents(layout, &ink, nil)
        cairo_move_to(
            context, Double(size.width - Int(ink.width)) / 2 - Double(ink.x),
            Double(size.height - Int(ink.height)) / 2 - Double(ink.y))
        cairo_set_source_rgb(context, 1, 1, 1)
        pango_cairo_show_layout(context, layout)
    }
}
