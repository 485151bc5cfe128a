import MediaCore
import MediaFixtures
import Testing

@testable import Compositing

@Suite("Placeholders")
struct PlaceholderTests {
    private let canvas = VideoDimensions(width: 320, height: 180)
    private let compositor = Composer()

    private func compose(_ name: String) -> PixelBuffer {
        compositor.compose(
            [CompositionRequest(grid: [1], canvas: canvas)], sources: sources(placeholder(1, name)))[0]
    }

    /// Counts the white samples.
    private func inkedSamples(_ picture: PixelBuffer) -> Int {
        (0..<180).reduce(0) { count, y in count + (0..<320).count { picture.colour(x: $0, y: y).y > 200 } }
    }

    @Test("a placeholder is one colour with a large white letter in its middle")
    func letter() {
        let picture = compose("Ada")
        let corner = picture.colour(x: 0, y: 0)
        for rect in [
            PixelRect(x: 0, y: 0, width: 320, height: 30), PixelRect(x: 0, y: 150, width: 320, height: 30),
            PixelRect(x: 0, y: 0, width: 90, height: 180), PixelRect(x: 230, y: 0, width: 90, height: 180),
        ] {
            #expect(picture.isFilled(rect, with: corner))
        }
        #expect(corner.y < 140)
        #expect(inkedSamples(picture) > 300)
    }

    @Test("the letter is centred")
    func centred() {
        let picture = compose("Otto")
        var (sumX, sumY, count) = (0, 0, 0)
        for y in 0..<180 {
            for x in 0..<320 where picture.colour(x: x, y: y).y > 200 {
                sumX += x
                sumY += y
                count += 1
            }
        }
        #expect(abs(sumX / max(count, 1) - 160) <= 2)
        #expect(abs(sumY / max(count, 1) - 90) <= 2)
    }

    @Test("names differ in letter and in colour, and a name always looks the same")
    func namesDiffer() {
        let pictures = ["Ada", "Ben", "Cy", "Anna"].map(compose)
        for index in pictures.indices {
            for other in pictures[..<index] { #expect(!pictures[index].hasSameSamples(as: other)) }
        }
        #expect(
            pictures[0].hasSameSamples(
                as: Composer().compose(
                    [CompositionRequest(grid: [1], canvas: canvas)],
                    sources: sources(placeholder(9, "x"), placeholder(1, "Ada")))[
                        0]))
        #expect(pictures[0].colour(x: 0, y: 0) != pictures[1].colour(x: 0, y: 0))
    }

    @Test("a placeholder is drawn once and then copied")
    func cached() {
        let request = CompositionRequest(grid: [1, 2], canvas: canvas)
        for index in 0..<10 {
            let list = sources(placeholder(1, "Ada"), source(2, solidPicture(.numbered(index), 64, 36)))
            _ = compositor.compose([request], sources: list)
        }
        #expect(compositor.statistics.renders == 10)
        #expect(compositor.statistics.placeholdersRendered == 1)
    }

    @Test("the kept placeholders are bounded, and those used lately stay")
    func bounded() {
        let size = VideoDimensions(width: 32, height: 18)
        var renderer = PlaceholderRenderer(capacity: 3 * size.area)
        let names = ["Ada", "Ben", "Cy", "Dan", "Eve"]
        for name in names {
            _ = renderer.placeholder(name: names[0], avatar: nil, size: size)
            _ = renderer.placeholder(name: name, avatar: nil, size: size)
        }
        #expect(renderer.renderCount == 5)
        _ = renderer.placeholder(name: names[0], avatar: nil, size: size)
        #expect(renderer.renderCount == 5)
        _ = renderer.placeholder(name: names[1], avatar: nil, size: size)
        #expect(renderer.renderCount == 6)
    }

    @Test(
        "the initial is the first grapheme that shows, in upper case",
        arguments: [
            ("ada", "A"), ("  ben", "B"), ("éva", "É"), ("e\u{301}va", "E\u{301}"), ("王小明", "王"), ("👩‍👩‍👧 family", "👩‍👩‍👧"),
            ("", "?"), (" \t\n", "?"), ("\u{0}\u{7}x", "X"),
        ])
    func initial(name: String, expected: String) {
        #expect(PlaceholderStyle(name: name).initial == expected)
    }

    @Test("a grapheme without end is cut")
    func endlessGrapheme() {
        let style = PlaceholderStyle(name: "a" + String(repeating: "\u{301}", count: 10_000))
        #expect(style.initial.unicodeScalars.count <= 16)
    }

    @Test("any name and any size can be drawn", arguments: ["\u{0}", "👩‍👩‍👧", "\u{202E}x", "<b>&", "ﷺ", "\u{FFFF}"])
    func anyName(name: String) {
        for (width, height) in [(2, 2), (4, 200), (200, 4), (64, 36)] {
            let request = CompositionRequest(grid: [1], canvas: VideoDimensions(width: width, height: height))
            let tile = CompositionLayer(
                source: 1, rect: PixelRect(x: 0, y: 0, width: width, height: height))
            let pictures = compositor.compose(
                [CompositionRequest(canvas: request.canvas, layers: [tile])], sources: sources(placeholder(1, name)))
            #expect(pictures[0].dimensions == request.canvas)
        }
    }
}
