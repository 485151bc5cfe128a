import MediaCore
import MediaFixtures
import PixelTransfer
import Testing

@testable import Compositing

/// Properties that hold for any layers, over thousands of seeded cases.
@Suite("Any layers")
struct LayerPropertyTests {
    private static let canvas = VideoDimensions(width: 64, height: 48)
    private static let sources: [SourceID: CompositionSource] = Dictionary(
        uniqueKeysWithValues: (0..<5).map { index in
            let id = SourceID.camera(ParticipantID(rawValue: UInt64(index)))
            let sizes = [(32, 18), (31, 17), (48, 36), (20, 40), (64, 48)]
            let picture = gradient(sizes[index].0, sizes[index].1, seed: index)
            return (
                id,
                CompositionSource(
                    id: id, name: "",
                    content: .picture(picture, rotation: VideoRotation.allCases[index % 4], isStale: index == 3),
                    decoration: index == 2 ? TileDecoration(isSpeaking: true) : nil)
            )
        })

    private static func gradient(_ width: Int, _ height: Int, seed: Int) -> PixelBuffer {
        var picture = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: width, height: height))
        for plane in 0..<3 {
            picture.withMutablePlane(plane) { bytes, stride in
                for index in bytes.indices {
                    bytes[index] = UInt8(60 + (index % stride * 5 + index / stride * 3 + seed * 37 + plane * 11) % 170)
                }
            }
        }
        return picture.freeze()
    }

    private static func randomRect(_ generator: inout SeededGenerator) -> PixelRect {
        PixelRect(
            x: .random(in: -20...70, using: &generator), y: .random(in: -20...50, using: &generator),
            width: .random(in: 0...70, using: &generator), height: .random(in: 0...60, using: &generator))
    }

    private static func randomLayer(_ generator: inout SeededGenerator) -> CompositionLayer {
        CompositionLayer(
            source: .camera(ParticipantID(rawValue: .random(in: 0...4, using: &generator))),
            rect: randomRect(&generator),
            fit: Bool.random(using: &generator)
                ? .contain : .cover(focus: FocusPoint(x: .random(in: 0...1, using: &generator), y: 0.3)),
            rotation: Int.random(in: 0...3, using: &generator) == 0 ? .clockwise90 : nil,
            opacity: Bool.random(using: &generator) ? 1 : .random(in: 0...1, using: &generator),
            cornerRadius: Bool.random(using: &generator) ? 0 : [3, 8, 17][.random(in: 0..<3, using: &generator)],
            border: Int.random(in: 0...3, using: &generator) == 0
                ? LayerBorder(width: 2, colour: YCbCrColour(y: 220, u: 30, v: 200)) : nil,
            zOrder: .random(in: 0...2, using: &generator), isDecorated: Bool.random(using: &generator))
    }

    private static func randomRequest(_ generator: inout SeededGenerator) -> CompositionRequest {
        let canvas = Bool.random(using: &generator) ? canvas : VideoDimensions(width: 51, height: 39)
        var request = CompositionRequest(
            canvas: canvas, layers: (0..<Int.random(in: 0...5, using: &generator)).map { _ in randomLayer(&generator) })
        if Bool.random(using: &generator) { request.instruction.background = .colour(YCbCrColour(y: 99, u: 99, v: 99)) }
        return request
    }

    private func compose(_ request: CompositionRequest, with composer: Composer = Composer()) -> PixelBuffer {
        composer.compose([request], sources: Self.sources)[0]
    }

    /// True if the samples in which two pictures differ lie in `rect`, chroma samples in part.
    ///
    /// A sample may be blended in one picture and not in the other, which rounds differently.
    private func differ(_ left: PixelBuffer, _ right: PixelBuffer, onlyIn rect: PixelRect) -> Bool {
        for plane in 0..<3 {
            let (width, height) = left.format.planeSize(plane, of: left.dimensions)
            let shift = plane == 0 ? 0 : 1
            let isInside = left.withPlane(plane) { leftBytes, leftStride in
                right.withPlane(plane) { rightBytes, rightStride in
                    var isInside = true
                    for y in 0..<height {
                        let isBeside = y << shift < rect.y || y << shift >= rect.maxY
                        for x in 0..<width where isBeside || x << shift < rect.x || x << shift >= rect.maxX {
                            let (leftSample, rightSample) = (
                                Int(leftBytes[y * leftStride + x]), Int(rightBytes[y * rightStride + x])
                            )
                            if abs(leftSample - rightSample) > 2 { isInside = false }
                        }
                    }
                    return isInside
                }
            }
            if !isInside { return false }
        }
        return true
    }

    @Test("a layer changes nothing outside its rectangle")
    func inside() {
        var generator = SeededGenerator(seed: 71)
        let composer = Composer()
        for _ in 0..<1000 {
            var request = Self.randomRequest(&generator)
            let without = compose(request, with: composer)
            let layer = Self.randomLayer(&generator)
            request.instruction.layers.append(layer)
            request.instruction.requiredSources.insert(layer.source)
            let isInside = differ(without, compose(request, with: composer), onlyIn: layer.rect)
            #expect(isInside, "\(layer)")
        }
    }

    @Test("an opaque layer hides everything below it")
    func opaque() {
        var generator = SeededGenerator(seed: 72)
        let composer = Composer()
        for _ in 0..<1000 {
            let request = Self.randomRequest(&generator)
            var top = Self.randomLayer(&generator)
            (top.opacity, top.cornerRadius, top.zOrder) = (1, 0, 9)
            let alone = compose(CompositionRequest(canvas: request.canvas, layers: [top]), with: composer)
            let above = compose(
                CompositionRequest(canvas: request.canvas, layers: request.instruction.layers + [top]), with: composer)
            let rect = top.rect.trimmed(to: request.canvas)
            // One luma sample for each chroma sample.
            let isHidden = stride(from: rect.y, to: rect.maxY, by: 2).allSatisfy { y in
                stride(from: rect.x, to: rect.maxX, by: 2).allSatisfy { x in
                    alone.colour(x: x, y: y) == above.colour(x: x, y: y)
                }
            }
            #expect(isHidden, "\(top)")
        }
    }

    @Test("a layer of opacity 0 changes nothing")
    func transparent() {
        var generator = SeededGenerator(seed: 73)
        let composer = Composer()
        for _ in 0..<500 {
            let request = Self.randomRequest(&generator)
            var layer = Self.randomLayer(&generator)
            layer.opacity = 0
            var other = request
            other.instruction.layers.insert(layer, at: 0)
            other.instruction.requiredSources.insert(layer.source)
            #expect(compose(request, with: composer).hasSameSamples(as: compose(other, with: composer)))
        }
    }

    @Test("a canvas looks the same beside others and after others as by itself")
    func cached() {
        var generator = SeededGenerator(seed: 74)
        let composer = Composer()
        for _ in 0..<150 {
            // Layers that are there twice, on one canvas or on several, are copied.
            var requests = (0..<3).map { _ in Self.randomRequest(&generator) }
            for index in 1..<3 {
                var shared = requests[0].instruction.layers
                if Bool.random(using: &generator) { shared.reverse() }
                if Bool.random(using: &generator) {
                    for position in shared.indices { shared[position].opacity = 0.5 }
                }
                let layers = shared + requests[index].instruction.layers
                requests[index] = CompositionRequest(canvas: requests[index].canvas, layers: layers)
            }
            let together = composer.compose(requests, sources: Self.sources)
            for (request, picture) in zip(requests, together) {
                #expect(picture.hasSameSamples(as: compose(request)))
            }
        }
        #expect(composer.statistics.copies > 25)
    }

    @Test("a moving layer looks at every time like a static one in that place")
    func moving() {
        var generator = SeededGenerator(seed: 75)
        let composer = Composer()
        for _ in 0..<250 {
            let layers = (0..<3).map { _ in
                var layer = Self.randomLayer(&generator)
                layer.isDecorated = false
                let range = MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 1))
                layer.rectRamps = [
                    Ramp(timeRange: range, from: Self.randomRect(&generator), to: Self.randomRect(&generator))
                ]
                layer.opacityRamps = [Ramp(timeRange: range, from: .random(in: 0...1, using: &generator), to: 1)]
                return layer
            }
            let moving = CompositionRequest(canvas: Self.canvas, layers: layers)
            let time = MediaTime(value: .random(in: 0...30, using: &generator), timescale: 30)
            let standing = CompositionRequest(
                canvas: Self.canvas, layers: moving.instruction.resolvedLayers(at: time))
            let picture = composer.compose([moving], sources: Self.sources, at: time)[0]
            #expect(picture.hasSameSamples(as: compose(standing)))
        }
    }
}
