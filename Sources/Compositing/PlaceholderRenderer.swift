import CPangoCairo
import MediaCore
import PixelTransfer

/// Draws placeholders and keeps those drawn lately, so that a name is laid out once for each tile size.
struct PlaceholderRenderer {
    private struct Key: Hashable {
        var name: String
        var size: VideoDimensions
    }

    private var pictures: RecentlyUsed<Key, PixelBuffer>
    /// How many were drawn.
    private(set) var renderCount = 0

    /// - Parameter capacity: How many luma samples are kept in all.
    init(capacity: Int = 24 << 20) {
        pictures = RecentlyUsed(capacity: capacity)
    }

    /// The placeholder of a name in exactly this size, which is even.
    mutating func picture(name: String, size: VideoDimensions) -> PixelBuffer {
        let key = Key(name: name, size: size)
        if let picture = pictures.use(key) { return picture }
        let picture = FontCollection.use { Self.render(PlaceholderStyle(name: name), size: size, with: $0) }
        renderCount += 1
        pictures.keep(picture, for: key, cost: size.area)
        return picture
    }

    private static func render(
        _ style: PlaceholderStyle, size: VideoDimensions, with fonts: FontCollection
    ) -> PixelBuffer {
        var result = MutablePixelBuffer(format: .i420, dimensions: size)
        result.withI420Region { region in
            let surface = cairo_image_surface_create(
                CAIRO_FORMAT_RGB24, Int32(clamping: size.width), Int32(clamping: size.height))
            defer { cairo_surface_destroy(surface) }
            if cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS {
                draw(style, size: size, on: surface, with: fonts)
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

    private static func draw(
        _ style: PlaceholderStyle, size: VideoDimensions, on surface: OpaquePointer?, with fonts: FontCollection
    ) {
        let context = cairo_create(surface)
        defer { cairo_destroy(context) }
        let colour = style.colour
        cairo_set_source_rgb(context, colour.red, colour.green, colour.blue)
        cairo_paint(context)

        let fontSize = Double(min(size.width, size.height)) * 0.5
        guard let line = fonts.layOut(style.initial, size: fontSize) else { return }
        cairo_set_source_rgb(context, 1, 1, 1)
        // Centred by what is inked: a letter's line has room above and below that would put it off the middle.
        line.draw(
            on: context, x: Double(size.width - line.ink.width) / 2 - Double(line.ink.x),
            y: Double(size.height - line.ink.height) / 2 - Double(line.ink.y))
    }
}
