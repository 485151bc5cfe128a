import MediaCore
import Testing

@testable import Compositing

@Suite("Places of pictures")
struct LayerPlacementTests {
    private func placement(
        _ width: Int, _ height: Int, in rect: PixelRect, _ fit: LayerFit, _ rotation: VideoRotation = .none,
        visible: PixelRect? = nil
    ) -> LayerPlacement {
        LayerPlacement(
            VideoDimensions(width: width, height: height), rotation: rotation, fit: fit, rect: rect,
            visible: visible ?? rect)
    }

    private func randomSize(_ limit: Int, _ generator: inout SeededGenerator) -> VideoDimensions {
        VideoDimensions(
            width: .random(in: 1...limit, using: &generator), height: .random(in: 1...limit, using: &generator))
    }

    private func randomRect(_ generator: inout SeededGenerator) -> PixelRect {
        let size = randomSize(700, &generator)
        return PixelRect(
            x: 2 * .random(in: -300...300, using: &generator), y: 2 * .random(in: -300...300, using: &generator),
            width: 2 * size.width, height: 2 * size.height)
    }

    @Test("a contained picture keeps its shape to the chroma sample, and nothing of it is cut off")
    func contain() {
        var generator = SeededGenerator(seed: 61)
        for _ in 0..<5000 {
            let (size, rect) = (randomSize(2000, &generator), randomRect(&generator))
            let rotation = VideoRotation.allCases[.random(in: 0..<4, using: &generator)]
            let placement = placement(size.width, size.height, in: rect, .contain, rotation)
            let upright = rotation.upright(size)
            let scale = min(
                Double(rect.width) / Double(upright.width), Double(rect.height) / Double(upright.height))
            let isSound =
                placement.crop == PixelRect(size) && rect.contains(placement.shown)
                && abs(Double(placement.shown.width) - scale * Double(upright.width)) <= 2
                && abs(Double(placement.shown.height) - scale * Double(upright.height)) <= 2
            #expect(isSound, "\(size) in \(rect): \(placement)")
        }
    }

    @Test("a covering picture fills its place with a part that lies in it, keeps its shape and is as large as can be")
    func cover() {
        var generator = SeededGenerator(seed: 62)
        for _ in 0..<5000 {
            let (size, rect) = (randomSize(2000, &generator), randomRect(&generator))
            let rotation = VideoRotation.allCases[.random(in: 0..<4, using: &generator)]
            let focus = FocusPoint(
                x: .random(in: -0.2...1.2, using: &generator), y: .random(in: 0...1, using: &generator))
            let placement = placement(size.width, size.height, in: rect, .cover(focus: focus), rotation)
            let upright = rotation.upright(size)
            let crop = rotation.upright(placement.crop.dimensions)
            let scale = max(
                Double(rect.width) / Double(upright.width), Double(rect.height) / Double(upright.height))
            let needed = (width: Double(rect.width) / scale, height: Double(rect.height) / scale)
            let isSound =
                placement.shown == rect && PixelRect(size).contains(placement.crop)
                && placement.crop.x % 2 == 0 && placement.crop.y % 2 == 0
                && Double(crop.width) <= needed.width + 2 && Double(crop.height) <= needed.height + 2
                && Double(crop.width) >= min(needed.width * 0.88, needed.width - 2) - 2
                && Double(crop.height) >= min(needed.height * 0.88, needed.height - 2) - 2
            #expect(isSound, "\(size) in \(rect): \(placement)")
        }
    }

    @Test("the part's middle is as near to the focus as it can be")
    func focus() {
        var generator = SeededGenerator(seed: 63)
        for _ in 0..<3000 {
            let size = randomSize(1500, &generator)
            let rect = randomRect(&generator)
            let focus = FocusPoint(x: .random(in: 0...1, using: &generator), y: .random(in: 0...1, using: &generator))
            let crop = placement(size.width, size.height, in: rect, .cover(focus: focus)).crop
            func distance(_ start: Int, _ length: Int, _ side: Int, _ focus: Double) -> Double {
                abs(Double(start) + Double(length) / 2 - focus * Double(side))
            }
            for start in [crop.x - 2, crop.x + 2] where start >= 0 && start + crop.width <= size.width {
                #expect(
                    distance(crop.x, crop.width, size.width, focus.x)
                        <= distance(start, crop.width, size.width, focus.x) + 1e-6)
            }
            for start in [crop.y - 2, crop.y + 2] where start >= 0 && start + crop.height <= size.height {
                #expect(
                    distance(crop.y, crop.height, size.height, focus.y)
                        <= distance(start, crop.height, size.height, focus.y) + 1e-6)
            }
        }
    }

    @Test("a picture whose samples are not square keeps the shape in which its sender shows it")
    func sampleShapes() {
        let place = PixelRect(x: 0, y: 0, width: 1280, height: 720)
        func placement(
            _ width: Int, _ height: Int, _ samples: (Int, Int), _ fit: LayerFit, _ rotation: VideoRotation = .none
        ) -> LayerPlacement {
            LayerPlacement(
                VideoDimensions(width: width, height: height),
                samples: VideoDimensions(width: samples.0, height: samples.1), rotation: rotation, fit: fit,
                rect: place, visible: place)
        }
        // Both are 16:9.
        for (width, height, samples) in [(720, 576, (64, 45)), (1440, 1080, (4, 3))] {
            for fit in [LayerFit.contain, .cover] {
                let lying = placement(width, height, samples, fit)
                #expect(lying.shown == place)
                #expect(lying.crop == PixelRect(x: 0, y: 0, width: width, height: height))
            }
            let turned = placement(width, height, samples, .contain, .clockwise90)
            #expect(abs(turned.shown.width - 405) <= 1 && turned.shown.height == 720)
        }
        // 4:3.
        #expect(placement(352, 288, (12, 11), .contain).shown == PixelRect(x: 160, y: 0, width: 960, height: 720))
        let covering = placement(352, 288, (12, 11), .cover)
        #expect(covering.shown == place && covering.crop == PixelRect(x: 0, y: 36, width: 352, height: 216))
    }

    @Test(
        "samples are square where their shape makes no visible difference or is none, and never very long",
        arguments: [
            ((1, 1), (1, 1)), ((640, 639), (1, 1)), ((0, 1), (1, 1)), ((1, 0), (1, 1)), ((12, 11), (12, 11)),
            ((45, 64), (45, 64)), ((65_535, 1), (10, 1)), ((1, 65_535), (1, 10)),
        ])
    func shownSampleShape(stated: (Int, Int), shown: (Int, Int)) {
        let shape = VideoDimensions(width: stated.0, height: stated.1).shownSampleShape
        #expect(shape == VideoDimensions(width: shown.0, height: shown.1))
    }

    @Test("the focus is that of the upright picture", arguments: VideoRotation.allCases)
    func turnedFocus(rotation: VideoRotation) {
        // The upper left quarter of the upright picture.
        let upright = rotation.upright(VideoDimensions(width: 400, height: 400))
        let rect = PixelRect(x: 0, y: 0, width: 300, height: 100)
        let top = placement(upright.width, upright.height, in: rect, .cover(focus: FocusPoint(x: 0.5, y: 0)), rotation)
        let expected =
            switch rotation {
            case .none: (0, 0)
            // The top of the upright picture is at the left of a picture that has to be turned clockwise.
            case .clockwise90: (0, 0)
            case .rotate180: (0, 400 - top.crop.height)
            case .clockwise270: (400 - top.crop.width, 0)
            }
        #expect((top.crop.x, top.crop.y) == expected)
    }

    @Test(
        "a picture is cropped to a fast ratio if that needs little additional cropping",
        arguments: [
            (VideoDimensions(width: 640, height: 360), VideoDimensions(width: 426, height: 240), (568, 320)),
            (VideoDimensions(width: 640, height: 360), VideoDimensions(width: 320, height: 180), (640, 360)),
            (VideoDimensions(width: 1280, height: 720), VideoDimensions(width: 300, height: 168), (1200, 672)),
            // A fifth would have to go.
            (VideoDimensions(width: 640, height: 360), VideoDimensions(width: 256, height: 144), (640, 360)),
            // Not a multiple of three.
            (VideoDimensions(width: 640, height: 360), VideoDimensions(width: 428, height: 240), (640, 358)),
        ])
    func fastRatios(picture: VideoDimensions, place: VideoDimensions, expected: (Int, Int)) {
        let crop = placement(picture.width, picture.height, in: PixelRect(place), .cover).crop
        #expect((crop.width, crop.height) == expected)
        let contained = placement(picture.width, picture.height, in: PixelRect(place), .contain).crop
        #expect(contained == PixelRect(picture))
    }

    @Test("the part outside the canvas is cut off and the rest stays in place, to the chroma sample")
    func clipped() {
        var generator = SeededGenerator(seed: 64)
        let canvas = VideoDimensions(width: 640, height: 360)
        for _ in 0..<5000 {
            let (size, rect) = (randomSize(1500, &generator), randomRect(&generator))
            let fit = Bool.random(using: &generator) ? LayerFit.cover : .contain
            let rotation = VideoRotation.allCases[.random(in: 0..<4, using: &generator)]
            let visible = rect.trimmed(to: canvas)
            guard !visible.isEmpty else { continue }
            let whole = placement(size.width, size.height, in: rect, fit, rotation)
            let clipped = placement(size.width, size.height, in: rect, fit, rotation, visible: visible)
            #expect(clipped.shown == whole.shown.intersection(visible))
            guard !clipped.shown.isEmpty else { continue }
            #expect(
                PixelRect(size).contains(clipped.crop) && !clipped.crop.isEmpty && clipped.crop.x % 2 == 0
                    && clipped.crop.y % 2 == 0, "\(size) \(rotation) in \(rect): \(clipped)")
            // The same scale, within the rounding to chroma samples.
            let (wholeCrop, crop) = (rotation.upright(whole.crop.dimensions), rotation.upright(clipped.crop.dimensions))
            let expected = Double(clipped.shown.width) * Double(wholeCrop.width) / Double(whole.shown.width)
            #expect(abs(Double(crop.width) - expected) <= 4, "\(size) in \(rect): \(clipped)")
        }
    }
}
