import CPangoCairo
import Glibc
import MediaCore
import PixelTransfer

/// Pictures in place of cameras and screens. A thin line near their edges shows how much of them is cut off.
enum PreviewPictures {
    /// A picture of a person in front of a wall in the colour that belongs to their name.
    static func person(named name: String, size: VideoDimensions) -> PixelBuffer {
        let style = PlaceholderStyle(name: name)
        let (red, green, blue) = style.colour
        return .drawn(size, orFilledWith: YCbCrColour(red: red, green: green, blue: blue)) { context in
            let (width, height) = (Double(size.width), Double(size.height))
            let side = min(width, height)
            cairo_set_source_rgb(context, red, green, blue)
            cairo_paint(context)
            // Head and shoulders.
            cairo_set_source_rgba(context, 1, 1, 1, 0.35)
            cairo_save(context)
            cairo_translate(context, width / 2, height / 2 + side * 0.62)
            cairo_scale(context, side * 0.4, side * 0.42)
            cairo_arc(context, 0, 0, 1, 0, 2 * .pi)
            cairo_restore(context)
            cairo_fill(context)
            cairo_set_source_rgba(context, 1, 1, 1, 0.8)
            cairo_arc(context, width / 2, height / 2 - side * 0.06, side * 0.22, 0, 2 * .pi)
            cairo_fill(context)
            FontCollection.use { fonts in
                guard let line = fonts.layOut(style.initial, size: side * 0.24) else { return }
                cairo_set_source_rgb(context, red * 0.7, green * 0.7, blue * 0.7)
                line.draw(
                    on: context, x: (width - Double(line.ink.width)) / 2 - Double(line.ink.x),
                    y: height / 2 - side * 0.06 - Double(line.ink.height) / 2 - Double(line.ink.y))
            }
            outline(on: context, width: width, height: height, white: 1)
        }
    }

    /// A slide of 16:10 with a title, some lines and a chart.
    static let screen: PixelBuffer = .drawn(
        VideoDimensions(width: 1280, height: 800), orFilledWith: .white
    ) { context in
        cairo_set_source_rgb(context, 0.97, 0.97, 0.97)
        cairo_paint(context)
        cairo_set_source_rgb(context, 0.13, 0.2, 0.32)
        cairo_rectangle(context, 80, 70, 700, 60)
        cairo_fill(context)
        cairo_set_source_rgb(context, 0.6, 0.63, 0.68)
        for index in 0..<6 {
            cairo_rectangle(context, 80, 210 + Double(index) * 80, Double(470 - index * 37 % 120), 26)
        }
        cairo_fill(context)
        cairo_set_source_rgb(context, 0.2, 0.45, 0.75)
        for (index, height) in [130.0, 210, 180, 330, 420].enumerated() {
            cairo_rectangle(context, 680 + Double(index) * 104, 690 - height, 72, height)
        }
        cairo_fill(context)
        outline(on: context, width: 1280, height: 800, white: 0.6)
    }

    private static func outline(on context: OpaquePointer?, width: Double, height: Double, white: Double) {
        let inset = min(width, height) * 0.03
        cairo_rectangle(context, inset, inset, width - 2 * inset, height - 2 * inset)
        cairo_set_source_rgba(context, white, white, white, 0.5)
        cairo_set_line_width(context, 3)
        cairo_stroke(context)
    }
}
