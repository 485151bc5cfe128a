import CPangoCairo
import MediaCore
import PixelTransfer

/// Draws placeholders and keeps those drawn lately, so that a name is laid out once for each tile size.
struct PlaceholderRenderer {
    private struct Key: Hashable {
        var style: PlaceholderStyle
        var size: VideoDimensions
    }

    private let text: TextRenderer
    private var pictures: RecentlyUsed<Key, PixelBuffer>
    /// How many were drawn.
    private(set) var renderCount = 0

    /// - Parameter capacity: How many luma samples are kept in all.
    init(text: TextRenderer = TextRenderer(), capacity: Int = 24 << 20) {
        self.text = text
        pictures = RecentlyUsed(capacity: capacity)
    }

    /// The placeholder in exactly this size, which is even.
    mutating func picture(style: PlaceholderStyle, size: VideoDimensions) -> PixelBuffer {
        let key = Key(style: style, size: size)
        if let picture = pictures.use(key) { return picture }
        let picture = render(style: style, size: size)
        renderCount += 1
        pictures.keep(picture, for: key, cost: size.area)
        return picture
    }

    private func render(style: PlaceholderStyle, size: VideoDimensions) -> PixelBuffer {
        var result = MutablePixelBuffer(format: .i420, dimensions: size)
        result.withI420Region { region in
            let surface = cairo_image_surface_create(
                CAIRO_FORMAT_RGB24, Int32(clamping: size.width), Int32(clamping: size.height))
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

    private func draw(_ style: PlaceholderStyle, size: VideoDimensions, on surface: OpaquePointer?) {
        let context = cairo_create(surface)
        defer { cairo_destroy(context) }
        let colour = style.colour
        cairo_set_source_rgb(context, colour.red, colour.green, colour.blue)
        cairo_paint(context)

        let fontSize = Double(min(size.width, size.height)) * 0.5
        guard let line = text.layOut(style.initial, size: fontSize) else { return }
        cairo_set_source_rgb(context, 1, 1, 1)
        // Centred by what is inked: a letter's line has room above and below that would put it off the middle.
        line.draw(
            on: context, x: Double(size.width - line.ink.width) / 2 - Double(line.ink.x),
            y: Double(size.height - line.ink.height) / 2 - Double(line.ink.y))
    }
}
