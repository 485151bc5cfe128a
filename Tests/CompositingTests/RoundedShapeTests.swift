import AllocationCounter
import MediaCore
import MediaFixtures
import PixelTransfer
import Testing

@testable import Compositing

@Suite("Rounded shapes")
struct RoundedShapeTests {
    private let canvas = VideoDimensions(width: 120, height: 90)
    private let below = Colour(y: 100, u: 120, v: 130)
    private let above = YCbCrColour(y: 200, u: 60, v: 190)

    private func painted(_ body: (I420Region) -> Void) -> PixelBuffer {
        var picture = MutablePixelBuffer(format: .i420, dimensions: canvas)
        picture.withI420Region { region in
            region.fill(
                PixelRect(x: 0, y: 0, width: canvas.width, height: canvas.height),
                with: YCbCrColour(y: below.y, u: below.u, v: below.v))
            body(region)
        }
        return picture.freeze()
    }

    /// The distance of a sample's centre from the edge of a rounded rectangle; negative outside.
    private func depth(_ x: Int, _ y: Int, in rect: PixelRect, radius: Int) -> Double {
        let (centreX, centreY) = (Double(x) + 0.5, Double(y) + 0.5)
        let fromLeft = min(centreX - Double(rect.x), Double(rect.maxX) - centreX)
        let fromTop = min(centreY - Double(rect.y), Double(rect.maxY) - centreY)
        guard fromLeft < Double(radius), fromTop < Double(radius) else { return min(fromLeft, fromTop) }
        let (dx, dy) = (Double(radius) - fromLeft, Double(radius) - fromTop)
        return Double(radius) - (dx * dx + dy * dy).squareRoot()
    }

    @Test("each luma sample is painted if it is in the shape")
    func luma() {
        for seed in 0..<60 {
            var random = SeededGenerator(seed: UInt64(seed))
            let radius = Int.random(in: 0...16, using: &random)
            let width = Int.random(in: 1...9, using: &random)
            let kind = [RoundedShape.Kind.rectangle, .border(width: width), .surroundings][seed % 3]
            let smallest = 2 * max(radius, width) + 2
            let rect = PixelRect(
                x: .random(in: -20...80, using: &random), y: .random(in: -20...60, using: &random),
                width: .random(in: smallest...70, using: &random), height: .random(in: smallest...60, using: &random))
            let picture = painted { $0.fill(rect, shape: RoundedShape(kind, radius: radius), with: above) }
            var wrongCount = 0
            let inner = PixelRect(
                x: rect.x + width, y: rect.y + width, width: rect.width - 2 * width, height: rect.height - 2 * width)
            for y in 0..<canvas.height {
                for x in 0..<canvas.width {
                    let outerDepth = depth(x, y, in: rect, radius: radius)
                    let innerDepth = depth(x, y, in: inner, radius: max(0, radius - width))
                    let square = rect.contains(PixelRect(x: x, y: y, width: 1, height: 1))
                    let (isIn, isOut) =
                        switch kind {
                        case .rectangle: (outerDepth > 1, outerDepth < -1)
                        case .surroundings: (square && outerDepth < -1, !square || outerDepth > 1)
                        case .border: (outerDepth > 1 && innerDepth < -1, outerDepth < -1 || innerDepth > 1)
                        }
                    if isIn, picture.colour(x: x, y: y).y != above.y { wrongCount += 1 }
                    if isOut, picture.colour(x: x, y: y).y != below.y { wrongCount += 1 }
                }
            }
        }
    }

    @Test(
        "no seam shows between corners and straight parts, wherever the shape begins",
        arguments: [(10, 10), (11, 10), (10, 11), (11, 11)])
    func seams(x: Int, y: Int) {
        let rect = PixelRect(x: x, y: y, width: 61, height: 41)
        let picture = painted { $0.fill(rect, shape: RoundedShape(.rectangle, radius: 7), with: above) }
        // Every chroma sample but those at the edges has the colour in full.
        let inside = PixelRect(x: 20, y: 20, width: 40, height: 20)
        for sampleY in stride(from: y + 2, to: rect.maxY - 2, by: 1) {
            for sampleX in stride(from: inside.x, to: inside.maxX, by: 1) {
                #expect(picture.colour(x: sampleX, y: sampleY).u == above.u)
            }
        }
        let half = UInt8(90)
        #expect(picture.colour(x: rect.x, y: 30).u == (x % 2 == 0 ? above.u : half))
        #expect(picture.colour(x: rect.maxX - 1, y: 30).u == (x % 2 == 0 ? half : above.u))
        #expect(picture.colour(x: 40, y: rect.y).u == (y % 2 == 0 ? above.u : half))
        #expect(picture.colour(x: 40, y: rect.maxY - 1).u == (y % 2 == 0 ? half : above.u))
    }

    @Test("a layer with round corners shows all but its corners")
    func layer() {
        let layer = solidPicture(Colour(y: above.y, u: above.u, v: above.v), 60, 40)
        let shape = RoundedShape(.rectangle, radius: 12)
        let filled = painted {
            $0.fill(PixelRect(x: 21, y: 13, width: 60, height: 40), shape: shape, with: above, opacity: Opacity(0.6))
        }
        let shown = painted { region in
            layer.withPlanes {
                region.blend(
                    I420Region(planes: $0, dimensions: layer.dimensions), x: 21, y: 13, shape: shape,
                    opacity: Opacity(0.6))
            }
        }
        for y in 0..<canvas.height {
            for x in 0..<canvas.width {
                let (left, right) = (filled.colour(x: x, y: y), shown.colour(x: x, y: y))
                #expect(abs(Int(left.y) - Int(right.y)) <= 1 && abs(Int(left.u) - Int(right.u)) <= 1)
            }
        }
    }

    @Test("a rectangle without room for the corners is painted whole, and its surroundings not at all")
    func tooSmall() {
        let rect = PixelRect(x: 30, y: 30, width: 10, height: 10)
        for kind in [RoundedShape.Kind.rectangle, .border(width: 6)] {
            let picture = painted { $0.fill(rect, shape: RoundedShape(kind, radius: 6), with: above) }
            #expect(picture.isFilled(rect, with: Colour(y: above.y, u: above.u, v: above.v)))
        }
        let picture = painted { $0.fill(rect, shape: RoundedShape(.surroundings, radius: 6), with: above) }
        #expect(picture.isFilled(rect, with: below))
    }

    @Test("sizes that cannot be are taken for the nearest that can")
    func clamped() {
        #expect(RoundedShape(.rectangle, radius: -5).radius == 0)
        #expect(RoundedShape(.rectangle, radius: .max).radius == RoundedShape.maximumRadius)
        #expect(RoundedShape(.border(width: 0), radius: 0).kind == .border(width: 1))
    }

    @Test("painting a shape allocates nothing", .enabled(if: allocation_counter_is_active()))
    func allocations() {
        let border = RoundedShape(.border(width: 3), radius: 9)
        var count: UInt64 = 0
        _ = painted { region in
            for _ in 0..<2 {
                let before = allocation_counter_read().count
                region.fill(
                    PixelRect(x: 5, y: 5, width: 80, height: 60), shape: border, with: above, opacity: Opacity(0.5))
                count = allocation_counter_read().count - before
            }
        }
        #expect(count == 0)
    }
}
