import MediaCore
import MediaFixtures
import PixelTransfer
import Testing

@testable import Compositing

@Suite("Overlays")
struct OverlayRendererTests {
    private let canvas = VideoDimensions(width: 640, height: 360)

    /// All that there is once nothing is missing any more.
    private func settled(
        _ overlays: [CompositionOverlay], canvas: VideoDimensions, wallClock: Int64? = nil,
        with renderer: inout OverlayRenderer
    ) -> [PlacedOverlay] {
        for _ in 0..<overlays.count { _ = renderer.overlays(overlays, canvas: canvas, wallClock: wallClock) }
        return renderer.overlays(overlays, canvas: canvas, wallClock: wallClock)
    }

    private func logo(_ width: Int, _ height: Int) -> ImageAsset { .solid("logo", width, height) }

    @Test("each anchor is where it says, with the same margin", arguments: CompositionOverlay.Anchor.allCases)
    func anchors(anchor: CompositionOverlay.Anchor) throws {
        var renderer = OverlayRenderer()
        let overlay = CompositionOverlay(.image(logo(40, 20)), anchor: anchor, height: 0.1)
        let rect = try #require(renderer.overlays([overlay], canvas: canvas, wallClock: nil).first).rect
        #expect(rect.dimensions == VideoDimensions(width: 72, height: 36))
        let margin = 10
        let (left, middle, right) = (margin, 284, 640 - 72 - margin)
        let (top, centre, bottom) = (margin, 162, 360 - 36 - margin)
        let expected =
            switch anchor {
            case .topLeft: (left, top)
            case .top: (middle, top)
            case .topRight: (right, top)
            case .centre: (middle, centre)
            case .bottomLeft: (left, bottom)
            case .bottom: (middle, bottom)
            case .bottomRight: (right, bottom)
            }
        #expect((rect.x, rect.y) == expected)
    }

    @Test("an overlay is drawn once, however often and on however many canvases of its size it is shown")
    func drawnOnce() {
        var renderer = OverlayRenderer()
        let overlays = [
            CompositionOverlay(.text("Ada's lecture"), anchor: .top, height: 0.06),
            CompositionOverlay(.image(logo(10, 10)), anchor: .topLeft, height: 0.1, opacity: 0.5),
        ]
        for round in 0..<40 {
            let placed = renderer.overlays(
                overlays, canvas: round % 2 == 0 ? canvas : VideoDimensions(width: 642, height: 360),
                wallClock: Int64(round))
            #expect(placed.count == 2)
        }
        #expect(renderer.renderCount == 2)
    }

    @Test("two results are equal where they show the same")
    func equality() {
        var renderer = OverlayRenderer()
        let image = logo(16, 9)
        func shown(_ text: String, opacity: Double = 1) -> [PlacedOverlay] {
            settled(
                [
                    CompositionOverlay(.text(text), anchor: .top, height: 0.06),
                    CompositionOverlay(.image(image), anchor: .bottom, height: 0.2, opacity: opacity),
                ], canvas: canvas, with: &renderer)
        }
        let first = shown("One")
        #expect(shown("One") == first)
        #expect(shown("Two") != first)
        #expect(shown("One", opacity: 0.5) != first)
        #expect(shown("One") == first)
    }

    @Test("a clock shows the time, is drawn once a second, and leaves nothing behind")
    func clock() {
        var renderer = OverlayRenderer()
        let overlays = [CompositionOverlay(.clock(utcOffset: 60), anchor: .topRight, height: 0.06)]
        var seen: [[PlacedOverlay]] = []
        for frame in 0..<300 {
            let placed = renderer.overlays(overlays, canvas: canvas, wallClock: 1_700_000_000 + Int64(frame / 30))
            if placed != seen.last { seen.append(placed) }
        }
        #expect(seen.count == 10)
        #expect(renderer.renderCount == 10)
        #expect(Set(seen.map { $0[0].rect.x }).count <= 2, "a clock hardly moves")
        #expect(renderer.overlays(overlays, canvas: canvas, wallClock: nil).isEmpty)
    }

    @Test(
        "hours, minutes and seconds are those of the offset",
        arguments: [
            (0, 0, "00:00:00"), (1_700_000_000, 0, "22:13:20"), (1_700_000_000, 120, "00:13:20"),
            (1_700_000_000, -210, "18:43:20"), (-1, 0, "23:59:59"), (3_599, 60, "01:59:59"),
        ])
    func face(wallClock: Int64, offset: Int, expected: String) {
        #expect(ClockFace.text(wallClock: wallClock, utcOffset: offset) == expected)
    }

    @Test("any time and offset can be shown")
    func anyTime() {
        for wallClock in [Int64.min, -1, 0, .max] {
            for offset in [Int.min, -1, 0, .max] {
                #expect(ClockFace.text(wallClock: wallClock, utcOffset: offset).count == 8)
            }
        }
    }

    @Test("a limited number is drawn in one call; the others follow")
    func bounded() {
        var renderer = OverlayRenderer()
        let overlays = (0..<6).map { CompositionOverlay(.text("Line \($0)"), anchor: .topLeft, height: 0.05) }
        let counts = (0..<4).map { _ in renderer.overlays(overlays, canvas: canvas, wallClock: nil).count }
        #expect(counts == [2, 4, 6, 6])
        #expect(renderer.renderCount == 6)
    }

    @Test("overlays of one anchor do not hide each other")
    func stacked() {
        var renderer = OverlayRenderer()
        for anchor in CompositionOverlay.Anchor.allCases where anchor != .centre {
            let overlays = (0..<4).map { CompositionOverlay(.text("Line \($0)"), anchor: anchor, height: 0.06) }
            let placed = settled(overlays, canvas: canvas, with: &renderer)
            #expect(placed.count == 4)
            for (index, one) in placed.enumerated() {
                #expect(placed[..<index].allSatisfy { !$0.rect.overlaps(one.rect) })
            }
        }
    }

    @Test("a long text ends within the canvas, a wide image is scaled down to it")
    func wide() throws {
        var renderer = OverlayRenderer()
        let placed = settled(
            [
                CompositionOverlay(
                    .text(String(repeating: "Breaking news ", count: 40)), anchor: .bottom, height: 0.08),
                CompositionOverlay(.image(logo(2000, 100)), anchor: .top, height: 0.9),
            ], canvas: canvas, with: &renderer)
        #expect(placed[0].rect.width > 580 && placed[0].rect.width <= 620)
        #expect(placed[1].rect == PixelRect(x: 0, y: 10, width: 640, height: 32))
    }

    @Test("every requested layout stays on the canvas without a trap")
    func hostile() {
        var random = SeededGenerator(seed: 7)
        var renderer = OverlayRenderer(capacity: 1 << 20)
        let numbers = [
            Double.nan, .infinity, -.infinity, -1, 0, 1e-300, 1e-9, 0.001, 0.05, 0.5, 1, 1.0000001, 7, 1e308,
        ]
        let images = [logo(1, 1), logo(1, 300), logo(300, 1), logo(7, 5)]
        for _ in 0..<80 {
            let canvas = VideoDimensions(
                width: [64, 66, 100, 321, 640].randomElement(using: &random) ?? 64,
                height: [64, 65, 90, 360].randomElement(using: &random) ?? 64)
            let overlays = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                let name = LabelTests.hostileNames.randomElement(using: &random) ?? ""
                let content: CompositionOverlay.Content =
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: .text(String(name.prefix(300)))
                    case 1: .clock(utcOffset: .random(in: .min ... .max, using: &random))
                    default: .image(images.randomElement(using: &random) ?? images[0])
                    }
                return CompositionOverlay(
                    content, anchor: CompositionOverlay.Anchor.allCases.randomElement(using: &random) ?? .top,
                    height: numbers.randomElement(using: &random) ?? 1,
                    opacity: numbers.randomElement(using: &random) ?? 1)
            }
            for overlay in renderer.overlays(
                overlays, canvas: canvas, wallClock: .random(in: .min ... .max, using: &random))
            {
                #expect(PixelRect(canvas).contains(overlay.rect))
            }
        }
        for canvas in [(0, 0), (-5, 100), (Int.max, Int.max), (1, 1)] {
            let overlay = CompositionOverlay(.text("x"), anchor: .top, height: 1)
            #expect(
                renderer.overlays(
                    [overlay], canvas: VideoDimensions(width: canvas.0, height: canvas.1), wallClock: 0
                ).isEmpty)
        }
    }

    @Test("an overlay is seen where it lies, and nothing else changes")
    func drawn() throws {
        var renderer = OverlayRenderer()
        let overlay = CompositionOverlay(
            .image(.solid("red", 8, 4, blue: 0, green: 0, red: 255)), anchor: .bottomRight, height: 0.25)
        let placed = try #require(renderer.overlays([overlay], canvas: canvas, wallClock: nil).first)
        var picture = MutablePixelBuffer(format: .i420, dimensions: canvas)
        picture.withMutablePlanes { planes in
            let region = I420Region(planes: planes, dimensions: canvas)
            region.fill(luma: 16)
            placed.draw(on: region)
        }
        let result = picture.freeze()
        #expect(result.isFilled(placed.rect, with: .red, tolerance: 2))
        for rest in PixelRect(canvas).subtracting(placed.rect) {
            #expect(result.isFilled(rest, with: Colour(y: 16, u: 128, v: 128)))
        }
    }
}

extension ImageAsset {
    /// An image of one opaque colour.
    static func solid(
        _ name: String, _ width: Int, _ height: Int, blue: UInt8 = 200, green: UInt8 = 120, red: UInt8 = 40
    ) -> ImageAsset {
        var picture = MutablePixelBuffer(format: .bgra, dimensions: VideoDimensions(width: width, height: height))
        picture.withMutablePlane(0) { bytes, stride in
            for y in 0..<height {
                for x in 0..<width {
                    for (index, value) in [blue, green, red, 255].enumerated() {
                        bytes[y * stride + 4 * x + index] = value
                    }
                }
            }
        }
        return ImageAsset(name: name, picture: picture.freeze())
    }
}
