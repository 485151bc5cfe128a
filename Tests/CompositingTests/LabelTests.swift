import MediaCore
import MediaFixtures
import PixelTransfer
import Testing

@testable import Compositing

@Suite("Labels")
struct LabelTests {
    static let hostileNames = [
        "", " ", "\u{0}\u{1}\u{7F}", "\u{202E}\u{202D}\u{2066}\u{2069}\u{200E}", "a\nb\r\nc\u{2028}d\u{2029}e\tf",
        String(repeating: "W", count: 100_000), "a" + String(repeating: "\u{301}", count: 100_000),
        String(repeating: "a\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}", count: 500),
        String(repeating: "\u{200D}", count: 5000), String(repeating: "👩\u{200D}", count: 5000),
        String(repeating: "ﷺ﷽", count: 300), "\u{FFFD}\u{FFFE}\u{FFFF}\u{10FFFF}\u{E000}", "<b>&amp;</b>%n%s\\",
        String(decoding: [0xFF, 0xC0, 0x80, 0xED, 0xA0, 0x80, 0x41] as [UInt8], as: UTF8.self),
        String(repeating: "\u{1100}", count: 3000), "\u{115F}\u{3164}\u{00AD}", "\u{20DD}\u{FE0F}", "𒐫𒈙⸻꧅",
    ]

    @Test("a label never exceeds its maximum height and width, whatever the name")
    func bounds() {
        var random = SeededGenerator(seed: 1)
        for round in 0..<60 {
            let name =
                round < Self.hostileNames.count
                ? Self.hostileNames[round]
                : String(
                    String.UnicodeScalarView(
                        (0..<Int.random(in: 0...200, using: &random)).compactMap { _ in
                            Unicode.Scalar(UInt32.random(in: 0...0x2FFFF, using: &random))
                        }))
            let label = Label(
                text: name, icons: LabelIcons(rawValue: .random(in: 0...255, using: &random)),
                height: .random(in: -5...40, using: &random), maximumWidth: .random(in: -5...240, using: &random))
            guard let bitmap = LabelRenderer.render(label) else { continue }
            #expect(bitmap.dimensions.width <= label.maximumWidth)
            #expect(bitmap.dimensions.height <= max(label.height, Label.heightRange.lowerBound))
        }
        for label in [
            Label(text: "Ada", height: .max, maximumWidth: .max), Label(text: "Ada", height: .min, maximumWidth: .min),
        ] {
            let bitmap = LabelRenderer.render(label)
            #expect(bitmap.map { $0.dimensions.width <= Label.widthLimit } ?? (label.maximumWidth < 0))
        }
    }

    @Test("the plate is as wide as the name needs, and a name that does not fit ends with an ellipsis")
    func ellipsis() throws {
        func width(_ name: String, _ icons: LabelIcons = []) throws -> Int {
            try #require(LabelRenderer.render(Label(text: name, icons: icons, height: 24, maximumWidth: 200)))
                .dimensions
                .width
        }
        #expect(try width("Jo") < width("Joanna"))
        #expect(try width("Joanna") < 150)
        #expect(try width("Jo") < width("Jo", .microphoneMuted))
        #expect(try width("Jo", .microphoneMuted) < width("Jo", [.microphoneMuted, .screen]))
        #expect((180...200).contains(try width(String(repeating: "Joanna ", count: 20))))

        let (short, long) = FontCollection.use { fonts in
            func ends(_ text: String) -> (isEllipsized: Bool, width: Int)? {
                fonts.layOut(text, size: 14, maximumWidth: 150).map { ($0.isEllipsized, $0.logical.width) }
            }
            return (ends("Joanna"), ends(String(repeating: "Joanna ", count: 20)))
        }
        #expect(try !#require(short).isEllipsized)
        #expect(try #require(long).isEllipsized && #require(long).width <= 150)
    }

    @Test(
        "white letters are drawn on a dark plate, on a white picture and on a black one", arguments: [UInt8(16), 235])
    func legible(luma: UInt8) throws {
        let bitmap = try #require(LabelRenderer.render(Label(text: "HEIM", height: 24, maximumWidth: 200)))
        let size = bitmap.dimensions
        var picture = MutablePixelBuffer(format: .i420, dimensions: size)
        picture.withI420Region { region in
            region.fill(luma: luma)
            region.blend(bitmap, x: 0, y: 0)
        }
        let result = picture.freeze()
        let samples = (0..<size.height).flatMap { y in (0..<size.width).map { result.colour(x: $0, y: y).y } }
        #expect(samples.count { $0 > 215 } > 40)
        // All of the plate but its corners and its letters.
        #expect(samples.count { $0 < 120 } > samples.count / 2)
        #expect(result.colour(x: 0, y: 0).y == luma)
    }

    @Test("a label has nothing to show without a name and icons, or without room")
    func nothing() {
        #expect(LabelRenderer.render(Label(text: "", height: 24, maximumWidth: 200)) == nil)
        #expect(LabelRenderer.render(Label(text: "\u{202E}\u{0}", height: 24, maximumWidth: 200)) == nil)
        #expect(LabelRenderer.render(Label(text: "Ada", height: 24, maximumWidth: 20)) == nil)
        #expect(LabelRenderer.render(Label(text: "", icons: .screen, height: 24, maximumWidth: 200)) != nil)
        #expect(LabelRenderer.render(Label(text: "", icons: .screen, height: 24, maximumWidth: 20)) == nil)
    }

    @Test("without room for a letter, only the icons are shown")
    func iconsOnly() {
        let bitmap = LabelRenderer.render(
            Label(text: "Ada Lovelace", icons: .microphoneMuted, height: 24, maximumWidth: 48))
        let icon = LabelRenderer.render(Label(text: "", icons: .microphoneMuted, height: 24, maximumWidth: 48))
        #expect(bitmap != nil && bitmap?.dimensions == icon?.dimensions)
    }

    @Test("a label follows the tile's height, and lies inside the tile on whole chroma samples")
    func metrics() throws {
        var last = 0
        for height in 60...1100 {
            for width in [64, 81, 160, 1920] {
                let metrics = try #require(TileLabelMetrics(tile: VideoDimensions(width: width, height: height)))
                #expect(metrics.height >= last && metrics.height.isMultiple(of: 2) && metrics.margin.isMultiple(of: 2))
                #expect(metrics.maximumWidth + 2 * metrics.margin <= width)
                #expect(metrics.height + 2 * metrics.margin <= height)
            }
            last = try #require(TileLabelMetrics(tile: VideoDimensions(width: 200, height: height))).height
        }
        #expect(last == 44)
        for (width, height) in [(63, 400), (400, 59), (0, 0), (-5, 100)] {
            #expect(TileLabelMetrics(tile: VideoDimensions(width: width, height: height)) == nil)
        }
    }
}

@Suite("Labels by many threads")
struct LabelThreadTests {
    @Test("threads draw labels of many scripts at once, more fonts than the library keeps open")
    func threads() async {
        let names = [
            "Ada", "김민준", "محمد", "שָׁלוֹם", "王小明", "नमस्ते", "বাংলা", "ไทย", "ქართული", "Հայ", "አማርኛ", "தமிழ்", "తెలుగు", "ಕನ್ನಡ",
            "മലയാളം", "ខ្មែរ", "ລາວ", "မြန်မာ", "ᏣᎳᎩ", "🎉",
        ]
        let alone = names.map { LabelRenderer.render(Label(text: $0, height: 24, maximumWidth: 200))?.dimensions }
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var order = SeededGenerator(seed: UInt64(task))
                    return names.indices.shuffled(using: &order).allSatisfy { index in
                        LabelRenderer.render(Label(text: names[index], height: 24, maximumWidth: 200))?.dimensions
                            == alone[index]
                    }
                }
            }
            for await isSame in group { #expect(isSame) }
        }
    }
}

@Suite("Kept labels")
struct LabelCacheTests {
    private func label(_ text: String, height: Int = 24) -> Label {
        Label(text: text, height: height, maximumWidth: 200)
    }

    @Test("a label is drawn once")
    func hit() {
        var cache = LabelCache()
        for _ in 0..<100 {
            cache.beginPass()
            #expect(cache.bitmap(for: label("Ada")) != nil)
        }
        #expect(cache.renderCount == 1)
    }

    @Test("another name, size, width or icon is another label")
    func keys() {
        var cache = LabelCache()
        for other in [
            label("Ada"), label("Ben"), label("Ada", height: 30), Label(text: "Ada", height: 24, maximumWidth: 100),
            Label(text: "Ada", icons: .screen, height: 24, maximumWidth: 200),
        ] {
            cache.beginPass()
            _ = cache.bitmap(for: other)
        }
        #expect(cache.renderCount == 5)
    }

    @Test("an empty result is remembered too")
    func nothing() {
        var cache = LabelCache()
        for _ in 0..<10 {
            cache.beginPass()
            #expect(cache.bitmap(for: label("\u{0}")) == nil)
        }
        #expect(cache.renderCount == 1)
    }

    @Test("a pass draws a few labels, and the next passes the others")
    func budget() {
        var cache = LabelCache()
        let names = (0..<10).map { "Name \($0)" }
        var passes = 0
        while cache.renderCount < names.count, passes < 10 {
            passes += 1
            cache.beginPass()
            let before = cache.renderCount
            let shown = names.count { cache.bitmap(for: label($0)) != nil }
            #expect(cache.renderCount - before <= LabelCache.rendersPerPass)
            #expect(shown == cache.renderCount)
        }
        #expect(passes == 5)
    }

    @Test("the cache is bounded, and recently used labels stay")
    func bounded() throws {
        let one = try #require(LabelRenderer.render(label("Name 00"))).byteCount
        var cache = LabelCache(capacity: 4 * one)
        for index in 0..<20 {
            cache.beginPass()
            _ = cache.bitmap(for: label("Ada"))
            _ = cache.bitmap(for: label("Name \(10 + index)"))
            #expect(cache.byteCount <= 4 * one)
        }
        #expect(cache.renderCount == 21)
        cache.beginPass()
        _ = cache.bitmap(for: label("Name 10"))
        #expect(cache.renderCount == 22)
    }

    @Test("a name that is larger than all that may be kept is drawn and not kept")
    func huge() {
        var cache = LabelCache(capacity: 100_000)
        let huge = label(String(repeating: "a", count: 1 << 20))
        #expect(cache.bitmap(for: huge) != nil)
        #expect(cache.byteCount == 0)
    }
}

extension LabelCache {
    fileprivate mutating func bitmap(for label: Label) -> OverlayBitmap? {
        if case .drawn(let drawn) = self.label(label) { drawn.bitmap } else { nil }
    }
}
