import MediaCore
import MediaFixtures
import Testing

@testable import Compositing

@Suite("Composition")
struct CompositionTests {
    private let canvas = VideoDimensions(width: 640, height: 360)
    private let compositor = Composer()

    @Test("every source is in its own cell", arguments: [1, 2, 3, 5, 9, 16, 25])
    func cells(count: Int) {
        let ids = (1...count).map { SourceID.camera(ParticipantID(rawValue: UInt64($0))) }
        let list = Dictionary(
            uniqueKeysWithValues: ids.enumerated().map { ($1, source($1, solidPicture(.numbered($0), 160, 90))) })
        let request = CompositionRequest(grid: ids, canvas: canvas)
        let picture = compositor.compose([request], sources: list)[0]
        #expect(picture.format == .i420 && picture.dimensions == canvas)
        for (index, tile) in request.instruction.layers.enumerated() {
            #expect(picture.isFilled(tile.rect, with: .numbered(index)))
        }
    }

    @Test("the area without tiles shows the background")
    func background() {
        let list = sources(source(1, solidPicture(.red, 64, 36)), source(2, solidPicture(.blue, 64, 36)))
        let picture = compositor.compose([CompositionRequest(grid: [1, 2], canvas: canvas)], sources: list)[0]
        #expect(picture.isFilled(PixelRect(x: 0, y: 0, width: 640, height: 90), with: .background))
        #expect(picture.isFilled(PixelRect(x: 0, y: 270, width: 640, height: 90), with: .background))
    }

    @Test("an avatar picture is shown completely between black bars")
    func avatar() {
        let list = sources(source(1, solidPicture(.green, 360, 640)))
        let picture = compositor.compose([CompositionRequest(grid: [1], canvas: canvas)], sources: list)[0]
        // 360 / 640 of 360 is 202.5, which is nearest to 202; the bar left of it starts on a chroma sample.
        #expect(picture.isFilled(PixelRect(x: 218, y: 0, width: 202, height: 360), with: .green))
        #expect(picture.isFilled(PixelRect(x: 0, y: 0, width: 218, height: 360), with: .bar))
        #expect(picture.isFilled(PixelRect(x: 420, y: 0, width: 220, height: 360), with: .bar))
    }

    @Test("a wide picture is shown completely between black bars")
    func wide() {
        let list = sources(source(1, solidPicture(.green, 640, 180)))
        let picture = compositor.compose([CompositionRequest(grid: [1], canvas: canvas)], sources: list)[0]
        #expect(picture.isFilled(PixelRect(x: 0, y: 90, width: 640, height: 180), with: .green))
        #expect(picture.isFilled(PixelRect(x: 0, y: 0, width: 640, height: 90), with: .bar))
        #expect(picture.isFilled(PixelRect(x: 0, y: 270, width: 640, height: 90), with: .bar))
    }

    @Test("the edges of a picture are not cropped")
    func edges() {
        // A white frame of 8 samples around black: it must be seen on all four sides.
        var frame = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: 320, height: 180))
        frame.withMutablePlane(0) { bytes, stride in
            for y in 0..<180 {
                for x in 0..<320 {
                    bytes[y * stride + x] = x < 8 || x >= 312 || y < 8 || y >= 172 ? 235 : 16
                }
            }
        }
        for plane in 1...2 {
            frame.withMutablePlane(plane) { bytes, _ in for index in bytes.indices { bytes[index] = 128 } }
        }
        let tile = PixelRect(x: 0, y: 0, width: 160, height: 90)
        let request = CompositionRequest(canvas: canvas, layers: [.init(source: 1, rect: tile)])
        let picture = compositor.compose([request], sources: sources(source(1, frame.freeze())))[0]
        for (x, y) in [(1, 45), (158, 45), (80, 1), (80, 88), (0, 0), (159, 89)] {
            #expect(picture.colour(x: x, y: y).y > 220)
        }
        #expect(picture.colour(x: 80, y: 45).y < 20)
    }

    @Test(
        "pictures of odd and of tiny sizes fill their tiles",
        arguments: [(641, 361), (639, 359), (1, 1), (2, 2), (3, 5), (17, 1), (1, 17), (1921, 1081), (15, 4000)])
    func oddSizes(width: Int, height: Int) {
        let tile = PixelRect(x: 100, y: 60, width: 242, height: 138)
        let request = CompositionRequest(canvas: canvas, layers: [.init(source: 1, rect: tile)])
        let list = sources(source(1, solidPicture(.red, width, height)))
        let picture = compositor.compose([request], sources: list)[0]
        let fitted = tile.fitting(VideoDimensions(width: width, height: height))
        // The box filter's average is one off at times.
        #expect(picture.isFilled(fitted, with: .red, tolerance: 1))
        for bar in tile.subtracting(fitted) { #expect(picture.isFilled(bar, with: .bar)) }
    }

    @Test("an odd canvas is filled to its last row and column")
    func oddCanvas() {
        let request = CompositionRequest(grid: [1], canvas: VideoDimensions(width: 101, height: 57))
        let picture = compositor.compose([request], sources: sources(source(1, solidPicture(.red, 160, 90))))[0]
        #expect(picture.dimensions == request.canvas)
        #expect(picture.colour(x: 100, y: 28) == .background)
        #expect(picture.colour(x: 50, y: 56) == .background)
        #expect(picture.colour(x: 50, y: 28) == .red)
    }

    @Test("a large picture keeps its colour in a tiny tile", arguments: [(1920, 1080), (3840, 2160)])
    func tinyTile(width: Int, height: Int) {
        let colour = Colour(y: 200, u: 128, v: 150)
        let tile = PixelRect(x: 0, y: 0, width: 40, height: 22)
        let request = CompositionRequest(
            canvas: VideoDimensions(width: 320, height: 180),
            layers: [CompositionLayer(source: 1, rect: tile, fit: .cover)])
        let picture = compositor.compose([request], sources: sources(source(1, solidPicture(colour, width, height))))[0]
        #expect(picture.isFilled(tile, with: colour))
    }

    @Test("a stale source is dimmed, and the others are not")
    func stale() {
        let bright = Colour(y: 200, u: 100, v: 150)
        let list = sources(
            source(1, solidPicture(bright, 160, 90), isStale: true), source(2, solidPicture(bright, 160, 90)))
        let request = CompositionRequest(grid: [1, 2], canvas: canvas)
        let picture = compositor.compose([request], sources: list)[0]
        #expect(picture.isFilled(request.instruction.layers[0].rect, with: Colour(y: 108, u: 100, v: 150)))
        #expect(picture.isFilled(request.instruction.layers[1].rect, with: bright))
    }

    @Test("a source that comes back from being stale is bright again")
    func recovered() {
        let picture = solidPicture(.red, 160, 90)
        let request = CompositionRequest(grid: [1], canvas: canvas)
        let dimmed = compositor.compose([request], sources: sources(source(1, picture, isStale: true)))[0]
        let bright = compositor.compose([request], sources: sources(source(1, picture)))[0]
        #expect(dimmed.colour(x: 320, y: 180).y == 49)
        #expect(bright.colour(x: 320, y: 180) == .red)
    }

    @Test("a bi-planar picture looks like the same planar one")
    func biplanar() {
        let request = CompositionRequest(grid: [1], canvas: canvas)
        let planar = compositor.compose([request], sources: sources(source(1, solidPicture(.blue, 321, 181))))[0]
        let biplanar = compositor.compose(
            [request], sources: sources(source(1, solidPicture(.blue, 321, 181, format: .nv12))))[0]
        #expect(biplanar.hasSameSamples(as: planar))
    }

    @Test("a tile of an unknown source stays background")
    func unknownSource() {
        let request = CompositionRequest(grid: [1, 2], canvas: canvas)
        let picture = compositor.compose([request], sources: sources(source(2, solidPicture(.red, 160, 90))))[0]
        #expect(picture.isFilled(request.instruction.layers[0].rect, with: .background))
        #expect(picture.isFilled(request.instruction.layers[1].rect, with: .red))
    }

    @Test("the parts of tiles outside the canvas are not drawn, and the rest does not change")
    func outside() {
        let tiles = [
            PixelRect(x: -101, y: -51, width: 301, height: 151), PixelRect(x: 601, y: 301, width: 501, height: 501),
            PixelRect(x: 700, y: 0, width: 100, height: 100), PixelRect(x: 100, y: 100, width: -5, height: 9),
        ]
        let request = CompositionRequest(canvas: canvas, layers: tiles.map { .init(source: 1, rect: $0) })
        let list = sources(source(1, solidPicture(.red, 20, 10)))
        let picture = compositor.compose([request], sources: list)[0]
        #expect(picture.colour(x: 100, y: 50) == .red)
        // Its picture is in the middle, below the canvas.
        #expect(picture.colour(x: 620, y: 330) == .bar)
        #expect(picture.colour(x: 320, y: 180) == .background)
    }

    @Test("a later tile covers an earlier one, and the covered one is not copied from")
    func overlapping() {
        let front = PixelRect(x: 40, y: 40, width: 160, height: 90)
        let small = VideoDimensions(width: 320, height: 180)
        let inset = CompositionRequest(
            canvas: small,
            layers: [
                .init(source: 1, rect: PixelRect(x: 0, y: 0, width: 320, height: 180)), .init(source: 2, rect: front),
            ])
        let plain = CompositionRequest(grid: [1], canvas: small)
        let list = sources(source(1, solidPicture(.red, 160, 90)), source(2, solidPicture(.blue, 80, 45)))
        let pictures = compositor.compose([inset, plain], sources: list)
        #expect(pictures[0].isFilled(front, with: .blue))
        #expect(pictures[0].colour(x: 10, y: 10) == .red)
        #expect(pictures[1].isFilled(PixelRect(x: 0, y: 0, width: 320, height: 180), with: .red))
    }
}
