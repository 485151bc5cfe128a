import MediaCore
import MediaFixtures
import Testing

@testable import Compositing

@Suite("Turned and cropped pictures")
struct RotationTests {
    private let compositor = Composer()

    /// A picture whose quarters have four colours: red, green above, blue, yellow below.
    private func quarters(_ width: Int, _ height: Int) -> PixelBuffer {
        var picture = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: width, height: height))
        for plane in 0..<3 {
            picture.withMutablePlane(plane) { bytes, stride in
                let (rows, columns) = plane == 0 ? (height, width) : ((height + 1) / 2, (width + 1) / 2)
                for row in 0..<rows {
                    for column in 0..<columns {
                        let colour = Self.colours[(row * 2 / rows) * 2 + column * 2 / columns]
                        bytes[row * stride + column] = plane == 0 ? colour.y : plane == 1 ? colour.u : colour.v
                    }
                }
            }
        }
        return picture.freeze()
    }

    private static let colours = [Colour.red, .green, .blue, .yellow]

    private func turned(_ picture: PixelBuffer, _ rotation: VideoRotation) -> [SourceID: CompositionSource] {
        [1: CompositionSource(id: 1, name: "", content: .picture(picture, rotation: rotation, isStale: false))]
    }

    /// The colours of the quarters of `rect`: upper left, upper right, lower left, lower right.
    private func corners(_ picture: PixelBuffer, _ rect: PixelRect) -> [Colour] {
        [(1, 1), (3, 1), (1, 3), (3, 3)].map { column, row in
            picture.colour(x: rect.x + rect.width * column / 4, y: rect.y + rect.height * row / 4)
        }
    }

    @Test(
        "a picture is turned upright, scaled or not",
        arguments: [
            (VideoRotation.none, [Colour.red, .green, .blue, .yellow]), (.clockwise90, [.blue, .red, .yellow, .green]),
            (.rotate180, [.yellow, .blue, .green, .red]), (.clockwise270, [.green, .yellow, .red, .blue]),
        ])
    func turns(rotation: VideoRotation, expected: [Colour]) {
        for (width, height) in [(160, 90), (320, 180), (640, 360), (641, 363), (64, 36)] {
            let upright = rotation.upright(VideoDimensions(width: 320, height: 180))
            let request = CompositionRequest(
                canvas: upright, layers: [CompositionLayer(source: 1, rect: PixelRect(upright))])
            let picture = compositor.compose([request], sources: turned(quarters(width, height), rotation))[0]
            #expect(corners(picture, PixelRect(upright)) == expected, "\(width)x\(height)")
        }
    }

    @Test("a turn moves every sample and changes none", arguments: VideoRotation.allCases)
    func exact(rotation: VideoRotation) {
        var generator = SeededGenerator(seed: 3)
        let size = VideoDimensions(width: 62, height: 34)
        var noise = MutablePixelBuffer(format: .i420, dimensions: size)
        for plane in 0..<3 {
            noise.withMutablePlane(plane) { bytes, _ in
                for index in bytes.indices { bytes[index] = UInt8.random(in: 0...255, using: &generator) }
            }
        }
        let original = noise.freeze()
        let upright = rotation.upright(size)
        let request = CompositionRequest(
            canvas: upright, layers: [CompositionLayer(source: 1, rect: PixelRect(upright))])
        let picture = compositor.compose([request], sources: turned(original, rotation))[0]
        for y in stride(from: 0, to: size.height, by: 2) {
            for x in stride(from: 0, to: size.width, by: 2) {
                let (toX, toY) =
                    switch rotation {
                    case .none: (x, y)
                    case .clockwise90: (size.height - 2 - y, x)
                    case .rotate180: (size.width - 2 - x, size.height - 2 - y)
                    case .clockwise270: (y, size.width - 2 - x)
                    }
                let (from, to) = (original.colour(x: x, y: y), picture.colour(x: toX, y: toY))
                #expect(from.u == to.u && from.v == to.v)
            }
        }
        #expect(compositor.statistics.scales == 0)
    }

    @Test("the picture of a phone held upright is turned, between bars")
    func portraitByRotation() {
        let canvas = VideoDimensions(width: 640, height: 360)
        let request = CompositionRequest(canvas: canvas, layers: [CompositionLayer(source: 1, rect: PixelRect(canvas))])
        let picture = compositor.compose([request], sources: turned(quarters(640, 360), .clockwise90))[0]
        let shown = PixelRect(x: 218, y: 0, width: 202, height: 360)
        #expect(corners(picture, shown) == [.blue, .red, .yellow, .green])
        for bar in PixelRect(canvas).subtracting(shown) { #expect(picture.isFilled(bar, with: .bar)) }
    }

    @Test("with cover the middle of the picture fills the tile", arguments: VideoRotation.allCases)
    func cover(rotation: VideoRotation) {
        // Left and right of the middle, and above and below it, are white: they are cut off.
        let size = VideoDimensions(width: 320, height: 180)
        for rect in [PixelRect(x: 0, y: 0, width: 160, height: 180), PixelRect(x: 20, y: 40, width: 300, height: 64)] {
            let canvas = VideoDimensions(width: 320, height: 180)
            let tile = VideoDimensions(width: rect.width, height: rect.height)
            let crop = PixelRect(rotation.upright(size)).fitting(tile)
            var middle =
                rotation.swapsDimensions
                ? PixelRect(x: crop.y, y: crop.x, width: crop.height, height: crop.width) : crop
            // If two parts are equally near to the middle, either may be taken.
            if middle.x > 0 { (middle.x, middle.width) = (middle.x - 2, middle.width + 4) }
            if middle.y > 0 { (middle.y, middle.height) = (middle.y - 2, middle.height + 4) }
            let picture = compositor.compose(
                [CompositionRequest(canvas: canvas, layers: [CompositionLayer(source: 1, rect: rect, fit: .cover)])],
                sources: turned(picture(size, blackIn: middle), rotation))[0]
            #expect(picture.isFilled(rect, with: Colour(y: 16, u: 128, v: 128), tolerance: 0))
        }
    }

    private func picture(_ size: VideoDimensions, blackIn rect: PixelRect) -> PixelBuffer {
        var picture = MutablePixelBuffer(format: .i420, dimensions: size)
        picture.withMutablePlane(0) { bytes, stride in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let isInside = rect.contains(PixelRect(x: x, y: y, width: 1, height: 1))
                    bytes[y * stride + x] = isInside ? 16 : 235
                }
            }
        }
        for plane in 1...2 {
            picture.withMutablePlane(plane) { bytes, _ in for index in bytes.indices { bytes[index] = 128 } }
        }
        return picture.freeze()
    }

    @Test("pictures of odd and of tiny sizes fill tiles, turned in any way and cropped or not")
    func oddSizes() {
        var generator = SeededGenerator(seed: 4)
        let canvas = VideoDimensions(width: 320, height: 180)
        for _ in 0..<250 {
            let width = Int.random(in: 1...90, using: &generator)
            let height = Int.random(in: 1...90, using: &generator)
            let rotation = VideoRotation.allCases[Int.random(in: 0..<4, using: &generator)]
            let rect = PixelRect(
                x: Int.random(in: 0...155, using: &generator) * 2, y: Int.random(in: 0...85, using: &generator) * 2,
                width: Int.random(in: 5...160, using: &generator) * 2,
                height: Int.random(in: 5...90, using: &generator) * 2
            ).trimmed(to: canvas)
            let fit = Bool.random(using: &generator) ? LayerFit.cover : .contain
            let format = Bool.random(using: &generator) ? PixelFormat.i420 : .nv12
            let picture = compositor.compose(
                [CompositionRequest(canvas: canvas, layers: [CompositionLayer(source: 1, rect: rect, fit: fit)])],
                sources: turned(solidPicture(.red, width, height, format: format), rotation))[0]
            let upright = rotation.upright(VideoDimensions(width: width, height: height))
            let seen = fit == .cover ? rect : rect.fitting(upright)
            #expect(
                picture.isFilled(seen, with: .red, tolerance: 1),
                "\(width)x\(height) \(rotation) \(fit) in \(rect)")
        }
    }

    @Test("a source with a new rotation is drawn again, and an unchanged one is copied")
    func reuse() {
        let canvas = VideoDimensions(width: 320, height: 180)
        let request = CompositionRequest(grid: [1], canvas: canvas)
        let picture = quarters(640, 360)
        let first = compositor.compose([request], sources: turned(picture, .none))[0]
        let second = compositor.compose([request], sources: turned(picture, .rotate180))[0]
        let third = compositor.compose([request], sources: turned(picture, .rotate180))[0]
        #expect(!first.hasSameSamples(as: second))
        #expect(second === third)
        #expect(compositor.statistics.rotations == 1)
    }

    @Test("a cropped picture and the same one uncropped are not confused")
    func croppedAndWhole() {
        let canvas = VideoDimensions(width: 320, height: 180)
        // The whole picture of 4:3 in its tile is as large as the tile that it fills on the other canvas.
        let whole = CompositionRequest(canvas: canvas, layers: [CompositionLayer(source: 1, rect: PixelRect(canvas))])
        let cropped = CompositionRequest(
            canvas: canvas,
            layers: [CompositionLayer(source: 1, rect: PixelRect(x: 0, y: 0, width: 240, height: 180), fit: .cover)])
        let filled = CompositionRequest(
            canvas: canvas, layers: [CompositionLayer(source: 1, rect: PixelRect(canvas), fit: .cover)])
        let wide = turned(quarters(640, 240), .none)
        let pictures = compositor.compose([whole, cropped, filled], sources: wide)
        #expect(pictures[0].colour(x: 160, y: 4) == .bar)
        #expect(corners(pictures[1], cropped.instruction.layers[0].rect) == Self.colours)
        #expect(corners(pictures[2], PixelRect(canvas)) == Self.colours)
    }

    @Test("turning allocates no picture memory in steady state")
    func steadyState() {
        let request = CompositionRequest(grid: [1], canvas: VideoDimensions(width: 320, height: 180))
        let pictures = (0..<4).map { quarters(200 + $0 * 20, 100) }
        func compose(_ index: Int) {
            _ = compositor.compose([request], sources: turned(pictures[index % 4], .clockwise90))
        }
        for index in 0..<8 { compose(index) }
        let allocations = compositor.statistics.pictureAllocations
        for index in 8..<100 { compose(index) }
        #expect(compositor.statistics.pictureAllocations == allocations)
    }
}
