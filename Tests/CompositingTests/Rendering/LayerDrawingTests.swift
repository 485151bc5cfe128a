import Foundation
import MediaCore
import MediaFixtures
import PixelTransfer
import Testing

@testable import Compositing

@Suite("Layers as they are drawn")
struct LayerDrawingTests {
    private let canvas = VideoDimensions(width: 160, height: 120)
    private let compositor = Composer()
    private let red = solidPicture(.red, 80, 60)
    private let blue = solidPicture(.blue, 80, 60)
    private let rect = PixelRect(x: 40, y: 30, width: 80, height: 60)

    private func compose(_ layers: [CompositionLayer], _ list: CompositionSource...) -> PixelBuffer {
        compositor.compose(
            [CompositionRequest(canvas: canvas, layers: layers)],
            sources: Dictionary(uniqueKeysWithValues: list.map { ($0.id, $0) }))[0]
    }

    private func image(_ width: Int, _ height: Int, _ colour: (_ x: Int, _ y: Int) -> (UInt8, UInt8, UInt8, UInt8))
        -> ImageAsset
    {
        var picture = MutablePixelBuffer(format: .bgra, dimensions: VideoDimensions(width: width, height: height))
        picture.withMutablePlane(0) { bytes, stride in
            for y in 0..<height {
                for x in 0..<width {
                    let (red, green, blue, alpha) = colour(x, y)
                    for (offset, value) in [blue, green, red, alpha].enumerated() {
                        bytes[y * stride + 4 * x + offset] = value
                    }
                }
            }
        }
        return ImageAsset(name: "test", picture: picture.freeze())
    }

    // MARK: Opacity

    @Test("a layer of opacity 0 is invisible, and one of opacity 1 hides the layers below")
    func exactOpacity() {
        let below = CompositionLayer(source: 1, rect: PixelRect(canvas))
        var above = CompositionLayer(source: 2, rect: rect)
        let hd = solidPicture(.red, 160, 120)
        above.opacity = 0
        #expect(
            compose([below, above], source(1, hd), source(2, blue)).hasSameSamples(as: compose([below], source(1, hd))))
        above.opacity = 1
        let opaque = compose([below, above], source(1, hd), source(2, blue))
        #expect(opaque.isFilled(rect, with: .blue))
        #expect(opaque.isFilled(PixelRect(x: 0, y: 0, width: 160, height: 30), with: .red))
    }

    @Test("half opaque is halfway between")
    func half() {
        let below = CompositionLayer(source: 1, rect: PixelRect(canvas))
        let above = CompositionLayer(source: 2, rect: rect, opacity: 0.5)
        let picture = compose([below, above], source(1, solidPicture(.red, 160, 120)), source(2, blue))
        let expected = Colour(y: 62, u: 165, v: 175)
        #expect(picture.isFilled(rect, with: expected, tolerance: 1))
        #expect(picture.isFilled(PixelRect(x: 0, y: 90, width: 160, height: 30), with: .red))
    }

    @Test("a layer that fades takes its label and border with it")
    func fadingDecoration() {
        var ada = source(1, solidPicture(Colour(y: 120, u: 128, v: 128), 80, 60))
        ada.decoration = TileDecoration(isSpeaking: true)
        let request = { (opacity: Double) in
            CompositionRequest(canvas: self.canvas, layers: [.init(source: 1, rect: self.rect, opacity: opacity)])
        }
        let (opaque, faded) = (
            compositor.compose([request(1)], sources: [1: ada])[0],
            compositor.compose([request(0.25)], sources: [1: ada])[0]
        )
        for y in 30..<90 {
            for x in 40..<120 {
                let expected = 24 + (Int(opaque.colour(x: x, y: y).y) - 24) / 4
                #expect(abs(Int(faded.colour(x: x, y: y).y) - expected) <= 1)
            }
        }
    }

    // MARK: Order

    @Test("layers lie above each other by their height, and in their order where that is the same")
    func zOrder() {
        let first = CompositionLayer(source: 1, rect: rect, zOrder: 1)
        let second = CompositionLayer(source: 2, rect: rect)
        #expect(compose([first, second], source(1, red), source(2, blue)).isFilled(rect, with: .red))
        let equal = CompositionLayer(source: 1, rect: rect)
        #expect(compose([equal, second], source(1, red), source(2, blue)).isFilled(rect, with: .blue))
    }

    @Test("hidden layers are not drawn")
    func hidden() {
        let left = CompositionLayer(
            source: 2, rect: PixelRect(x: 0, y: 0, width: 80, height: 120), fit: .cover, zOrder: 1)
        let right = CompositionLayer(
            source: 2, rect: PixelRect(x: 80, y: 0, width: 80, height: 120), fit: .cover, zOrder: 1)
        let below = CompositionLayer(source: 1, rect: rect)
        let picture = compose([below, left, right], source(1, red), source(2, blue))
        #expect(picture.isFilled(PixelRect(canvas), with: .blue, tolerance: 1))
        #expect(compositor.statistics.compositor.hiddenLayers == 1)
        #expect(compositor.statistics.scales == 1)
    }

    // MARK: Corners and borders

    @Test("round corners show the background, image or layer below")
    func corners() {
        let round = CompositionLayer(source: 1, rect: rect, cornerRadius: 16)
        let plain = compose([round], source(1, red))
        #expect(plain.colour(x: 40, y: 30) == .background && plain.colour(x: 118, y: 88) == .background)
        #expect(plain.isFilled(PixelRect(x: 56, y: 30, width: 48, height: 60), with: .red))
        #expect(compositor.statistics.blends == 0)
        let above = compose(
            [CompositionLayer(source: 2, rect: PixelRect(canvas)), round], source(1, red),
            source(2, solidPicture(.blue, 160, 120)))
        #expect(above.colour(x: 40, y: 30) == .blue && above.colour(x: 118, y: 88) == .blue)
        #expect(above.isFilled(PixelRect(x: 56, y: 30, width: 48, height: 60), with: .red))
        #expect(compositor.statistics.blends == 1)
        // Through the edge of the corner both are seen.
        #expect((40..<56).contains { ![90, 240].contains(above.colour(x: $0, y: 34).u) })
    }

    @Test("a border lies inside the layer's edge, in its colour, round where the corners are")
    func border() {
        let border = LayerBorder(width: 4, colour: YCbCrColour(y: 200, u: 60, v: 70))
        let colour = Colour(y: 200, u: 60, v: 70)
        let square = compose([CompositionLayer(source: 1, rect: rect, border: border)], source(1, red))
        for edge in [
            PixelRect(x: 40, y: 30, width: 80, height: 4), PixelRect(x: 40, y: 86, width: 80, height: 4),
            PixelRect(x: 40, y: 30, width: 4, height: 60), PixelRect(x: 116, y: 30, width: 4, height: 60),
        ] {
            #expect(square.isFilled(edge, with: colour))
        }
        #expect(square.isFilled(PixelRect(x: 44, y: 34, width: 72, height: 52), with: .red))
        let round = compose([CompositionLayer(source: 1, rect: rect, cornerRadius: 12, border: border)], source(1, red))
        #expect(round.colour(x: 40, y: 30) == .background)
        #expect(round.isFilled(PixelRect(x: 60, y: 30, width: 40, height: 4), with: colour))
    }

    @Test("a layer too small for its corners has smaller ones")
    func smallCorners() {
        let small = PixelRect(x: 40, y: 30, width: 20, height: 12)
        let picture = compose(
            [CompositionLayer(source: 1, rect: small, fit: .cover, cornerRadius: 100)], source(1, red))
        #expect(picture.colour(x: 40, y: 30).y == Colour.background.y)
        #expect(picture.colour(x: 50, y: 36) == .red)
    }

    // MARK: Backgrounds

    @Test("a background is a colour, or an image that covers the canvas and is scaled once")
    func backgrounds() {
        let list = sources(source(1, red))
        var request = CompositionRequest(canvas: canvas, layers: [CompositionLayer(source: 1, rect: rect)])
        request.instruction.background = .colour(YCbCrColour(y: 90, u: 40, v: 50))
        let coloured = compositor.compose([request], sources: list)[0]
        #expect(coloured.isFilled(PixelRect(x: 0, y: 0, width: 160, height: 30), with: Colour(y: 90, u: 40, v: 50)))
        // Left half white, right half black; above and below it something that is cut off.
        let wide = image(64, 64) { x, y in
            y < 6 || y >= 58 ? (255, 0, 0, 255) : x < 32 ? (255, 255, 255, 255) : (0, 0, 0, 255)
        }
        request.instruction.background = .image(wide)
        for index in 0..<5 {
            let picture = compositor.compose(
                [request], sources: sources(source(1, solidPicture(.numbered(index), 80, 60))))
            #expect(
                picture[0].isFilled(
                    PixelRect(x: 0, y: 2, width: 38, height: 116), with: Colour(y: 235, u: 128, v: 128), tolerance: 1))
            #expect(
                picture[0].isFilled(
                    PixelRect(x: 122, y: 2, width: 38, height: 116), with: Colour(y: 16, u: 128, v: 128), tolerance: 1))
            #expect(picture[0].isFilled(rect, with: .numbered(index)))
        }
        #expect(compositor.statistics.compositor.backgroundsRendered == 1)
    }

    @Test("a transparent background image shows the standard background")
    func transparentBackground() {
        var request = CompositionRequest(canvas: canvas, layers: [])
        request.instruction.background = .image(image(4, 4) { _, _ in (0, 0, 0, 0) })
        let picture = compositor.compose([request], sources: [:])[0]
        #expect(picture.isFilled(PixelRect(canvas), with: .background, tolerance: 1))
    }

    // MARK: Overlays

    @Test("overlays lie above all layers, and tiles under them are not copied from")
    func overlays() {
        let logo = image(8, 8) { _, _ in (255, 255, 255, 255) }
        let tile = CompositionRequest(canvas: canvas, layers: [CompositionLayer(source: 1, rect: PixelRect(canvas))])
        var withLogo = tile
        withLogo.instruction.overlays = [CompositionOverlay(.image(logo), anchor: .topRight, height: 0.2)]
        let list = sources(source(1, solidPicture(.red, 160, 120)))
        let pictures = compositor.compose([withLogo, tile], sources: list)
        #expect((100..<160).contains { pictures[0].colour(x: $0, y: 10).y > 220 })
        #expect(pictures[1].isFilled(PixelRect(canvas), with: .red))
    }

    // MARK: Placeholders

    @Test("an avatar is shown in a circle on the name's colour")
    func avatar() {
        let face = image(30, 60) { _, _ in (255, 255, 255, 255) }
        let ada = CompositionSource(id: 1, name: "Ada", content: .placeholder(avatar: face))
        let picture = compose([CompositionLayer(source: 1, rect: PixelRect(canvas))], ada)
        let initial = compose([CompositionLayer(source: 1, rect: PixelRect(canvas))], placeholder(1, "Ada"))
        #expect(picture.colour(x: 0, y: 0) == initial.colour(x: 0, y: 0))
        #expect(
            picture.isFilled(
                PixelRect(x: 56, y: 36, width: 48, height: 48), with: Colour(y: 235, u: 128, v: 128), tolerance: 1))
        #expect(picture.colour(x: 46, y: 26) == initial.colour(x: 0, y: 0))
    }

    // MARK: Changing sizes

    private func growing(_ content: TileContent, isDecorated: Bool = true) -> (CompositionRequest, CompositionSource) {
        let ramp = Ramp(
            timeRange: MediaTimeRange(start: .zero, duration: MediaTime(value: 30, timescale: 30)),
            from: PixelRect(x: 0, y: 0, width: 160, height: 90), to: PixelRect(x: 0, y: 0, width: 640, height: 360),
            easing: .linear)
        let layer = CompositionLayer(source: 1, rect: PixelRect(x: 0, y: 0, width: 160, height: 90), rectRamps: [ramp])
        let request = CompositionRequest(canvas: VideoDimensions(width: 640, height: 360), layers: [layer])
        return (request, CompositionSource(id: 1, name: "Ada", content: content, decoration: TileDecoration()))
    }

    @Test("while a layer's size changes nothing is laid out for the sizes between, and no memory is allocated")
    func changingSize() {
        for content in [TileContent.placeholder(), .picture(solidPicture(.red, 320, 180), isStale: false)] {
            let compositor = Composer()
            let (request, ada) = growing(content)
            var allocations: [Int] = []
            for pass in 0..<3 {
                for frame in 0...30 {
                    let time = MediaTime(value: Int64(frame), timescale: 30)
                    _ = compositor.compose([request], sources: [1: ada], at: time)
                }
                if pass > 0 { allocations.append(compositor.statistics.pictureAllocations) }
            }
            #expect(compositor.statistics.labelsRendered == 2)
            #expect(compositor.statistics.placeholdersRendered <= 2)
            #expect(allocations[0] == allocations[1])
        }
    }

    @Test("a change of size begins and ends as the layer looks at rest")
    func endsAtRest() {
        for content in [TileContent.placeholder(), .picture(solidPicture(.red, 320, 180), isStale: false)] {
            let (request, ada) = growing(content)
            for (frame, size) in [(0, (160, 90)), (30, (640, 360))] {
                let time = MediaTime(value: Int64(frame), timescale: 30)
                let moving = compositor.compose([request], sources: [1: ada], at: time)[0]
                let still = CompositionLayer(source: 1, rect: PixelRect(x: 0, y: 0, width: size.0, height: size.1))
                let resting = compositor.compose(
                    [CompositionRequest(canvas: request.canvas, layers: [still])], sources: [1: ada])[0]
                #expect(moving.hasSameSamples(as: resting))
            }
        }
    }

    @Test("a fading layer is drawn once for all canvases, and takes no new memory when its size changes")
    func fadingTogether() {
        let ramp = Ramp(
            timeRange: MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 1)), from: 0.0, to: 1)
        func request(_ frame: Int, _ background: UInt8) -> CompositionRequest {
            let rect = PixelRect(x: 2 * frame, y: 10, width: 80 + 2 * frame, height: 60 + 2 * (frame / 2))
            let layer = CompositionLayer(source: 1, rect: rect, opacityRamps: [ramp])
            var request = CompositionRequest(canvas: canvas, layers: [layer])
            request.instruction.background = .colour(YCbCrColour(y: background, u: 128, v: 128))
            return request
        }
        let list = sources(source(1, red))
        var before = 0
        for frame in 0..<20 {
            if frame == 3 { before = compositor.statistics.pictureAllocations }
            let time = MediaTime(value: Int64(frame + 1), timescale: 30)
            _ = compositor.compose((0..<4).map { request(frame, 40 + $0) }, sources: list, at: time)
        }
        #expect(compositor.statistics.scales + compositor.statistics.copies == 20)
        #expect(compositor.statistics.blends == 80)
        #expect(compositor.statistics.pictureAllocations == before)
    }

    // MARK: All of it

    /// If `CONFRELAY_PICTURE_DIR` names a folder, the picture of docs/compositing.md is written there.
    @Test("corners, borders, opacity, labels, avatars and overlays go together")
    func together() throws {
        let size = VideoDimensions(width: 640, height: 360)
        let sky = image(64, 36) { _, y in (UInt8(30 + y), UInt8(60 + 2 * y), UInt8(120 + 3 * y), 255) }
        let face = image(40, 40) { x, y in
            let isEye = (y == 15 || y == 16) && (x == 14 || x == 15 || x == 25 || x == 26)
            let isMouth = y == 27 && (14...26).contains(x)
            return isEye || isMouth ? (60, 30, 20, 255) : (240, 200, 160, 255)
        }
        let border = LayerBorder(width: 4, colour: .white)
        var request = CompositionRequest(
            canvas: size,
            layers: [
                CompositionLayer(source: 1, rect: PixelRect(x: 30, y: 24, width: 330, height: 186), cornerRadius: 24),
                CompositionLayer(
                    source: 2, rect: PixelRect(x: 250, y: 130, width: 220, height: 200), fit: .cover, opacity: 0.6,
                    cornerRadius: 40, border: border),
                CompositionLayer(source: 3, rect: PixelRect(x: 450, y: 40, width: 160, height: 90), border: border),
                CompositionLayer(source: 4, rect: PixelRect(x: 40, y: 230, width: 160, height: 110), cornerRadius: 16),
            ])
        request.instruction.background = .image(sky)
        request.instruction.overlays = [
            CompositionOverlay(.text("Lecture 7"), anchor: .bottomRight, height: 0.08),
            CompositionOverlay(.clock(utcOffset: 0), anchor: .topRight, height: 0.07, opacity: 0.8),
        ]
        func named(_ id: SourceID, _ name: String, _ content: TileContent, isSpeaking: Bool = false)
            -> CompositionSource
        {
            CompositionSource(
                id: id, name: name, content: content, decoration: TileDecoration(isSpeaking: isSpeaking))
        }
        let list = sources(
            named(1, "Ada", .picture(solidPicture(.red, 640, 360), isStale: false), isSpeaking: true),
            named(2, "Ben", .picture(solidPicture(.green, 640, 360), isStale: false)),
            named(3, "Cy", .placeholder()), named(4, "Dan", .placeholder(avatar: face)))
        let inputs = CompositionInputs(sources: list, wallClock: 45_296)
        for _ in 0..<4 { _ = compositor.renderer.render([request], inputs: inputs, at: .zero) }
        let composed = compositor.renderer.render([request], inputs: inputs, at: .zero)[0]
        #expect(composed.origin == .reused)
        #expect(composed.picture.colour(x: 200, y: 100) == .red)
        // The sky shows at the corners, and both layers where they meet.
        #expect(composed.picture.colour(x: 30, y: 24) != .red)
        #expect(composed.picture.colour(x: 300, y: 180) != .red && composed.picture.colour(x: 300, y: 180) != .green)
        if let folder = ProcessInfo.processInfo.environment["CONFRELAY_PICTURE_DIR"] {
            try composed.picture.writePNG(to: "\(folder)/layers.png")
        }
    }
}
