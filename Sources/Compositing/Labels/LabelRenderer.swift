import CPangoCairo
import MediaCore
import PixelTransfer

enum LabelRenderer {
    /// The opacity of the plate: dark enough for white letters on a white picture (5.7 to 1, WCAG asks for 4.5).
    private static let plateOpacity = 0.6

    /// The label as a bitmap, no higher than asked for and no wider than allowed; nil if there is nothing to show or no
    /// room for it.
    static func render(_ label: Label) -> OverlayBitmap? {
        FontCollection.use { render(label, with: $0) }
    }

    private static func render(_ label: Label, with fonts: FontCollection) -> OverlayBitmap? {
        guard let plan = Plan(label, fonts) else { return nil }
        let (width, height) = (plan.width, plan.height)
        let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(clamping: width), Int32(clamping: height))
        defer { cairo_surface_destroy(surface) }
        guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS else { return nil }
        draw(plan, on: surface)
        cairo_surface_flush(surface)
        guard let bytes = cairo_image_surface_get_data(surface) else { return nil }
        let plane = PixelBufferPlane(
            base: UnsafeMutableRawPointer(bytes), stride: Int(cairo_image_surface_get_stride(surface)), rows: height)
        return OverlayBitmap(premultipliedBGRA: plane, dimensions: VideoDimensions(width: width, height: height))
    }

    /// The positions of all parts.
    private struct Plan {
        var width: Int
        var height: Int
        var padding: Double
        var iconSide: Double
        var icons: [LabelIcons]
        var line: TextLayout?
        var textX: Double
        var textY: Double

        init?(_ label: Label, _ fonts: FontCollection) {
            height = min(max(label.height, Label.heightRange.lowerBound), Label.heightRange.upperBound)
            let limit = min(label.maximumWidth, Label.widthLimit)
            let size = Double(height) * 0.58
            padding = (Double(height) * 0.3).rounded()
            iconSide = (Double(height) * 0.62).rounded()
            icons = LabelIcons.all.filter { label.icons.contains($0) }
            let gap = (Double(height) * 0.18).rounded()
            let iconsWidth = Double(icons.count) * (iconSide + gap)
            textX = padding + iconsWidth
            let name = DisplayText(label.text, length: label.length)
            let room = Int(Double(limit) - 2 * padding - iconsWidth)
            // Less room than for a letter and the ellipsis.
            if !name.isEmpty, Double(room) >= 1.5 * size {
                line = fonts.layOut(name.string, size: size, maximumWidth: room)
            }
            guard line != nil || !icons.isEmpty else { return nil }
            let textWidth = line.map { min($0.logical.width, room) }
            let content = iconsWidth + Double(textWidth ?? 0) - (textWidth == nil ? gap : 0)
            width = Int((content + 2 * padding).rounded(.up))
            // An even width, so that the plate ends with a chroma sample.
            width = min(width + 1, limit) & ~1
            guard Double(width) >= 2 * padding + (icons.isEmpty ? 0 : iconSide) else { return nil }
            // The middle of capital letters, which are about 0.72 em high, is the plate's middle.
            textY = Double(height) / 2 + 0.36 * size - (line?.baseline ?? 0)
        }
    }

    private static func draw(_ plan: Plan, on surface: OpaquePointer?) {
        let context = cairo_create(surface)
        defer { cairo_destroy(context) }
        // Letters must stay on the plate: the parts outside it are cut away when everything is drawn.
        cairo_push_group(context)
        var x = plan.padding
        for icon in plan.icons {
            icon.draw(on: context, x: x, y: (Double(plan.height) - plan.iconSide) / 2, side: plan.iconSide)
            x += plan.iconSide + (Double(plan.height) * 0.18).rounded()
        }
        if let line = plan.line {
            cairo_set_source_rgb(context, 1, 1, 1)
            line.draw(on: context, x: plan.textX - Double(line.logical.x), y: plan.textY)
        }
        cairo_pop_group_to_source(context)
        let content = cairo_pattern_reference(cairo_get_source(context))
        defer { cairo_pattern_destroy(content) }

        traceRoundedRectangle(context, width: Double(plan.width), height: Double(plan.height))
        cairo_clip_preserve(context)
        cairo_set_source_rgba(context, 0, 0, 0, plateOpacity)
        cairo_fill(context)
        cairo_set_source(context, content)
        cairo_paint(context)
    }

    private static func traceRoundedRectangle(_ context: OpaquePointer?, width: Double, height: Double) {
        let radius = min(width, height) * 0.3
        cairo_new_sub_path(context)
        cairo_arc(context, width - radius, radius, radius, -0.5 * .pi, 0)
        cairo_arc(context, width - radius, height - radius, radius, 0, 0.5 * .pi)
        cairo_arc(context, radius, height - radius, radius, 0.5 * .pi, .pi)
        cairo_arc(context, radius, radius, radius, .pi, 1.5 * .pi)
        cairo_close_path(context)
    }
}
