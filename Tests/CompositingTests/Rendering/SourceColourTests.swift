import AllocationCounter
import MediaCore
import MediaFixtures
import PixelTransfer
import Testing

@testable import Compositing

private let fullRange601 = ColourDescription(isFullRange: true)
private let fullRange709 = ColourDescription(
    primaries: 1, transferCharacteristics: 13, matrixCoefficients: 1, isFullRange: true)

/// A picture of one colour, with `colour` as the meaning of its numbers.
private func picture(
    _ samples: Colour, _ width: Int, _ height: Int, _ colour: ColourDescription
) -> PixelBuffer {
    var picture = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: width, height: height))
    picture.attachments.colour = colour
    picture.withI420Region {
        $0.fill(PixelRect($0.dimensions), with: YCbCrColour(y: samples.y, u: samples.u, v: samples.v))
    }
    return picture.freeze()
}

/// Pictures whose matrix or range is not the canvas's.
@Suite("Sources of other colours")
struct SourceColourTests {
    private let canvas = VideoDimensions(width: 64, height: 36)
    private let white = Colour(y: 224, u: 128, v: 128)
    /// The value in limited range of full range's 224.
    private let converted = Colour(y: 208, u: 128, v: 128)

    private func compose(
        _ picture: PixelBuffer, with composer: Composer = Composer(), rotation: VideoRotation = .none,
        _ change: (inout CompositionLayer) -> Void = { _ in }
    ) -> PixelBuffer {
        var layer = CompositionLayer(source: 1, rect: PixelRect(canvas))
        change(&layer)
        let content = TileContent.picture(picture, rotation: rotation, isStale: false)
        return composer.compose(
            [CompositionRequest(canvas: canvas, layers: [layer])],
            sources: [1: CompositionSource(id: 1, name: "", content: content)])[0]
    }

    @Test("full range keeps its contrast, whether copied, scaled or turned")
    func fullRange() {
        let composer = Composer()
        for (width, height) in [(64, 36), (128, 72), (32, 18), (160, 90)] {
            let picture = picture(white, width, height, fullRange601)
            for rotation in [VideoRotation.none, .rotate180] {
                // Scaling may cost a level.
                let composed = compose(picture, with: composer, rotation: rotation)
                #expect(composed.isFilled(PixelRect(canvas), with: converted, tolerance: width == 160 ? 1 : 0))
            }
        }
        #expect(composer.statistics.compositor.colourConversions == 8)
        let upright = picture(white, 36, 64, fullRange601)
        #expect(compose(upright, rotation: .clockwise90).isFilled(PixelRect(canvas), with: converted))
    }

    @Test("BT.709 is converted to BT.601: red has the values of the recommendations' tables")
    func matrix() {
        let limited = picture(Colour(y: 63, u: 102, v: 240), 128, 72, .bt709)
        #expect(compose(limited).isFilled(PixelRect(canvas), with: Colour(y: 81, u: 90, v: 240), tolerance: 1))
        let full = picture(Colour(y: 54, u: 99, v: 255), 128, 72, fullRange709)
        #expect(compose(full).isFilled(PixelRect(canvas), with: Colour(y: 81, u: 90, v: 240), tolerance: 1))
    }

    @Test("a layer through which something is seen is converted before it is blended, the bars beside it are not")
    func blended() {
        let half = compose(picture(white, 64, 36, fullRange601)) { $0.opacity = 0.5 }
        // Halfway between the background's 24 and 208.
        #expect(half.isFilled(PixelRect(canvas), with: Colour(y: 116, u: 128, v: 128), tolerance: 1))
        let square = compose(picture(white, 36, 36, fullRange601))
        #expect(square.colour(x: 2, y: 18) == .bar && square.colour(x: 61, y: 18) == .bar)
        #expect(square.colour(x: 32, y: 18) == converted)
    }

    @Test("a source of another colour description is composed, and one of the canvas's own passes through")
    func passThrough() {
        let layer = CompositionLayer(source: 1, rect: PixelRect(canvas), isDecorated: false)
        let request = CompositionRequest(
            canvas: canvas,
            instruction: CompositionInstruction(timeRange: .all, layers: [layer], passthroughSource: 1))
        for colour in [.unspecified, .bt601, ColourDescription(primaries: 1, matrixCoefficients: 5)] {
            let composed = CompositionRenderer().render(request, source(1, picture(white, 64, 36, colour)))
            #expect(composed.origin == .passthrough(1))
        }
        for colour in [fullRange601, .bt709, fullRange709] {
            let composed = CompositionRenderer().render(request, source(1, picture(white, 64, 36, colour)))
            #expect(composed.origin == .rendered)
            #expect(composed.picture.attachments.colour == CompositionRenderer.canvasColour)
        }
    }

    @Test("a picture of the canvas's colour is not converted, and one of another once for all canvases of a size")
    func cost() {
        let composer = Composer()
        let requests = [
            CompositionRequest(grid: [1, 2], canvas: VideoDimensions(width: 128, height: 72)),
            CompositionRequest(grid: [2, 1], canvas: VideoDimensions(width: 128, height: 72)),
        ]
        func compose(_ colour: ColourDescription) {
            let pictures = [picture(white, 128, 72, colour), picture(white, 64, 36, colour)]
            _ = composer.compose(requests, sources: sources(source(1, pictures[0]), source(2, pictures[1])))
        }
        compose(.bt601)
        compose(.unspecified)
        #expect(composer.statistics.compositor.colourConversions == 0)
        compose(.bt709)
        #expect(composer.statistics.compositor.colourConversions == 2)
    }

    // Without optimisation the standard library's collections allocate as they are iterated.
    @Test(
        "a conversion allocates nothing in steady state",
        .enabled(if: allocation_counter_is_active() && !_isDebugAssertConfiguration()))
    func allocations() {
        let renderer = CompositionRenderer()
        let requests = [CompositionRequest(grid: [1, 2], canvas: VideoDimensions(width: 256, height: 144))]
        let inputs = (0..<6).map { frame in
            CompositionInputs(
                sources: sources(
                    source(1, picture(.numbered(frame), 256, 144, fullRange709)),
                    source(2, picture(.numbered(frame), 128, 72, fullRange601))))
        }
        var results: [ComposedPicture] = []
        for index in 0..<30 { renderer.render(requests, inputs: inputs[index % 6], at: .zero, into: &results) }
        let before = allocation_counter_read().count
        for index in 0..<30 { renderer.render(requests, inputs: inputs[index % 6], at: .zero, into: &results) }
        #expect(allocation_counter_read().count == before)
    }
}
