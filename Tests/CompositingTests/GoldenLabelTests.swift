import CPangoCairo
import MediaCore
import PixelTransfer
import Testing

@testable import Compositing

/// Labels in four scripts as they were accepted; only with the fonts with which they were accepted.
@Suite("Golden labels")
struct GoldenLabelTests {
    @Test("Latin", .enabled(if: draws("Ada Žižková", with: ["Noto Sans"]), "needs fonts-noto-core"))
    func latin() throws {
        try check("label-latin", "Ada Žižková", icons: [])
    }

    @Test("Korean", .enabled(if: draws("김민준", with: ["NanumGothic"]), "needs fonts-nanum"))
    func korean() throws {
        try check("label-korean", "김민준", icons: .microphoneMuted)
    }

    @Test(
        "Arabic, from right to left, with its ellipsis at the left",
        .enabled(if: draws("عبد الرحمن بن محمد", with: ["Noto Sans Arabic", "DejaVu Sans"]), "needs fonts-noto-core"))
    func arabic() throws {
        try check("label-arabic", "عبد الرحمن بن محمد بن خلدون الحضرمي", icons: .screen)
    }

    @Test("emoji, in colour", .enabled(if: draws("🎉🦊", with: ["Noto Color Emoji"]), "needs fonts-noto-color-emoji"))
    func emoji() throws {
        try check("label-emoji", "🎉🦊🍓🇰🇷", icons: [])
    }

    /// Three labels of a name in three sizes, each over a bright and a dark picture.
    private func check(_ golden: String, _ name: String, icons: LabelIcons) throws {
        var picture = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: 424, height: 136))
        try picture.withI420Region { region in
            region.fill(
                PixelRect(x: 0, y: 0, width: 212, height: 136), with: YCbCrColour(red: 0.9, green: 0.8, blue: 0.6))
            region.fill(
                PixelRect(x: 212, y: 0, width: 212, height: 136), with: YCbCrColour(red: 0, green: 0.1, blue: 0.3))
            for (height, y) in [(20, 6), (30, 36), (44, 80)] {
                let bitmap = try #require(
                    LabelRenderer.render(Label(text: name, icons: icons, height: height, maximumWidth: 196)))
                region.blend(bitmap, x: 8, y: y)
                region.blend(bitmap, x: 221, y: y + 1)
            }
        }
        try GoldenPicture(name: golden).check(picture.freeze(), tolerance: 20)
    }

    /// Returns true if this text is drawn with one of these fonts alone.
    private static func draws(_ text: String, with families: Set<String>) -> Bool {
        let used = FontCollection.use { _ in self.families(text) }
        return !used.isEmpty && used.isSubset(of: families)
    }

    private static func families(_ text: String) -> Set<String> {
        let surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1)
        let context = cairo_create(surface)
        guard let layout = pango_cairo_create_layout(context) else { return [] }
        let font = pango_font_description_from_string("Sans Medium 12")
        pango_layout_set_font_description(layout, font)
        pango_layout_set_text(layout, text, -1)
        let iterator = pango_layout_get_iter(layout)
        defer {
            pango_layout_iter_free(iterator)
            pango_font_description_free(font)
            g_object_unref(UnsafeMutableRawPointer(layout))
            cairo_destroy(context)
            cairo_surface_destroy(surface)
        }
        var used: Set<String> = []
        repeat {
            guard let run = pango_layout_iter_get_run_readonly(iterator) else { continue }
            let description = pango_font_describe(run.pointee.item.pointee.analysis.font)
            defer { pango_font_description_free(description) }
            if let family = pango_font_description_get_family(description) { used.insert(String(cString: family)) }
        } while pango_layout_iter_next_run(iterator) != 0
        return used
    }
}
