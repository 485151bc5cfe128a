import AllocationCounter
import MediaCore
import Testing

@testable import PixelTransfer

@Suite("Blending in 4:2:0")
struct BlendingTests {
    @Test("a bitmap is blended as the formula says, at any position and opacity")
    func overlays() {
        for seed in 0..<80 {
            var random = SeededGenerator(seed: UInt64(seed))
            let canvas = Raster.random(canvasSize(&random), using: &random)
            let bitmap = TestBitmap.random(using: &random)
            let (x, y) = position(of: bitmap.dimensions, on: canvas.dimensions, &random)
            let opacity = anyOpacity(&random)

            let actual = canvas.blended { $0.blend(bitmap.overlay, x: x, y: y, opacity: opacity) }
            let expected = canvas.mixed { sampleX, sampleY in
                (
                    bitmap.colour(sampleX - x, sampleY - y),
                    bitmap.alpha(sampleX - x, sampleY - y) * Double(opacity.parts) / 256
                )
            }
            #expect(actual.largestDifference(from: expected) <= 3, "seed \(seed)")
            // Samples more than a chroma sample away stay unchanged.
            let reach = PixelRect(
                x: (x & ~1), y: (y & ~1), width: bitmap.dimensions.width + 2, height: bitmap.dimensions.height + 2)
            #expect(actual.isSame(as: canvas, outside: reach), "seed \(seed)")
        }
    }

    @Test("a rectangle is filled as the formula says, at any position and opacity")
    func fills() {
        for seed in 0..<80 {
            var random = SeededGenerator(seed: UInt64(seed))
            let canvas = Raster.random(canvasSize(&random), using: &random)
            let size = VideoDimensions(
                width: .random(in: 1...40, using: &random), height: .random(in: 1...40, using: &random))
            let (x, y) = position(of: size, on: canvas.dimensions, &random)
            let rect = PixelRect(x: x, y: y, width: size.width, height: size.height)
            let opacity = anyOpacity(&random)
            let colour = YCbCrColour(y: 200, u: 60, v: 190)

            let actual = canvas.blended { $0.fill(rect, with: colour, opacity: opacity) }
            let expected = canvas.mixed(in: rect, weight: Double(opacity.parts) / 256) { _, _ in colour }
            #expect(actual.largestDifference(from: expected) <= 1, "seed \(seed)")
        }
    }

    @Test("a colour takes the shape of a mask, at any position and opacity")
    func masks() {
        for seed in 0..<80 {
            var random = SeededGenerator(seed: UInt64(seed))
            let canvas = Raster.random(canvasSize(&random), using: &random)
            let bitmap = TestBitmap.random(using: &random)
            let (x, y) = position(of: bitmap.dimensions, on: canvas.dimensions, &random)
            let opacity = anyOpacity(&random)
            let colour = YCbCrColour(y: 30, u: 200, v: 77)

            let actual = canvas.blended { $0.fill(colour, mask: bitmap.overlay.mask, x: x, y: y, opacity: opacity) }
            let expected = canvas.mixed { sampleX, sampleY in
                (
                    colour, bitmap.alpha(sampleX - x, sampleY - y) * Double(opacity.parts) / 256
                )
            }
            #expect(actual.largestDifference(from: expected) <= 2, "seed \(seed)")
        }
    }

    @Test("a layer fades over the layers below, at any position and opacity")
    func layers() {
        for seed in 0..<80 {
            var random = SeededGenerator(seed: UInt64(seed))
            let canvas = Raster.random(canvasSize(&random), using: &random)
            let size = VideoDimensions(
                width: .random(in: 1...90, using: &random), height: .random(in: 1...40, using: &random))
            // Smooth, since a chroma sample half a sample further on is the mean of two.
            let layer = Raster.smooth(size)
            let (x, y) = position(of: size, on: canvas.dimensions, &random)
            let opacity = anyOpacity(&random)

            let actual = canvas.blended { region in
                layer.picture.withPlanes { planes in
                    region.blend(
                        I420Region(planes: planes, dimensions: size), x: x, y: y, opacity: opacity)
                }
            }
            let rect = PixelRect(x: x, y: y, width: size.width, height: size.height)
            let expected = canvas.mixed(in: rect, weight: Double(opacity.parts) / 256) { sampleX, sampleY in
                layer.colour(sampleX - x, sampleY - y)
            }
            #expect(actual.largestDifference(from: expected) <= 2, "seed \(seed)")
        }
    }

    @Test("a layer is seen through a mask, at any position and opacity")
    func maskedLayers() {
        for seed in 0..<80 {
            var random = SeededGenerator(seed: UInt64(seed))
            let canvas = Raster.random(canvasSize(&random), using: &random)
            let bitmap = TestBitmap.random(using: &random)
            let size = bitmap.dimensions
            let layer = Raster.smooth(size)
            let (x, y) = position(of: size, on: canvas.dimensions, &random)
            let opacity = anyOpacity(&random)

            let actual = canvas.blended { region in
                layer.picture.withPlanes { planes in
                    region.blend(
                        I420Region(planes: planes, dimensions: size), x: x, y: y, mask: bitmap.overlay.mask, maskX: x,
                        maskY: y, opacity: opacity)
                }
            }
            let expected = canvas.mixed { sampleX, sampleY in
                (
                    layer.colour(sampleX - x, sampleY - y),
                    bitmap.alpha(sampleX - x, sampleY - y) * Double(opacity.parts) / 256
                )
            }
            #expect(actual.largestDifference(from: expected) <= 3, "seed \(seed)")
        }
    }

    @Test("an opaque layer at an even position is taken as it is")
    func opaqueLayer() {
        var random = SeededGenerator(seed: 1)
        let canvas = Raster.random(VideoDimensions(width: 64, height: 48), using: &random)
        let layer = Raster.random(VideoDimensions(width: 20, height: 10), using: &random)
        let actual = canvas.blended { region in
            layer.picture.withPlanes { planes in
                region.blend(I420Region(planes: planes, dimensions: layer.dimensions), x: 12, y: 6)
            }
        }
        let part = actual.picture.withPlanes { planes in
            var part = MutablePixelBuffer(format: .i420, dimensions: layer.dimensions)
            part.withI420Region {
                $0.copy(I420Region(planes: planes, rect: PixelRect(x: 12, y: 6, width: 20, height: 10)))
            }
            return part.freeze()
        }
        #expect(part.largestDifference(from: layer.picture) == 0)
    }

    @Test("nothing is written outside the clip")
    func clip() {
        var random = SeededGenerator(seed: 2)
        let canvas = Raster.random(VideoDimensions(width: 64, height: 48), using: &random)
        let bitmap = TestBitmap.solid(VideoDimensions(width: 41, height: 33), alpha: 255)
        let clip = PixelRect(x: 10, y: 8, width: 12, height: 6)
        let actual = canvas.blended { $0.blend(bitmap.overlay, x: 3, y: 5, clip: clip) }
        #expect(actual.isSame(as: canvas, outside: clip))
        #expect(!actual.isSame(as: canvas, outside: PixelRect(x: 0, y: 0, width: 0, height: 0)))
    }

    @Test("transparent layers, and those outside the region, change nothing")
    func nothing() {
        var random = SeededGenerator(seed: 3)
        let canvas = Raster.random(VideoDimensions(width: 64, height: 48), using: &random)
        let bitmap = TestBitmap.solid(VideoDimensions(width: 8, height: 8), alpha: 255)
        let actual = canvas.blended { region in
            region.blend(bitmap.overlay, x: 4, y: 4, opacity: .transparent)
            region.blend(TestBitmap.solid(VideoDimensions(width: 8, height: 8), alpha: 0).overlay, x: 5, y: 5)
            for far in [Int.min, Int.min + 1, -(1 << 40), -8, 64, 1 << 40, Int.max - 3, Int.max] {
                region.blend(bitmap.overlay, x: far, y: 4)
                region.blend(bitmap.overlay, x: 4, y: far)
                region.fill(PixelRect(x: far, y: 4, width: 8, height: 8), with: .white)
            }
            region.fill(PixelRect(x: 4, y: 4, width: 0, height: 8), with: .white)
            region.fill(PixelRect(x: 4, y: 4, width: -5, height: 8), with: .white)
            region.dim(to: .opaque)
        }
        #expect(actual.isSame(as: canvas, outside: PixelRect(x: 0, y: 0, width: 0, height: 0)))
    }

    @Test("dimming takes luma towards black and leaves colours")
    func dimming() {
        let picture = solid(.i420, 16, 16, [216, 60, 190])
        for (opacity, luma) in [
            (Opacity.transparent, UInt8(16)), (Opacity(0.25), 66), (Opacity(0.5), 116), (.opaque, 216),
        ] {
            let dimmed = Raster(picture).blended { $0.dim(to: opacity) }
            #expect(dimmed.picture.samples(0).allSatisfy { $0 == luma })
            #expect(dimmed.picture.samples(1).allSatisfy { $0 == 60 })
        }
    }

    @Test(
        "an opacity is clamped, and one that is not a number makes the layer invisible",
        arguments: [(-1, 0), (0, 0), (0.25, 64), (1, 256), (7, 256), (.infinity, 256), (-.infinity, 0), (.nan, 0)])
    func opacities(fraction: Double, parts: Int) {
        #expect(Opacity(fraction).parts == parts)
    }

    @Test("primary colours have BT.601's values")
    func colours() {
        #expect(YCbCrColour(red: 1, green: 0, blue: 0) == YCbCrColour(y: 81, u: 90, v: 240))
        #expect(YCbCrColour(red: 0, green: 1, blue: 0) == YCbCrColour(y: 145, u: 54, v: 34))
        #expect(YCbCrColour(red: 0, green: 0, blue: 1) == YCbCrColour(y: 41, u: 240, v: 110))
        #expect(YCbCrColour(red: 9, green: 2, blue: 1) == .white)
        #expect(YCbCrColour(red: -1, green: .nan, blue: 0) == .black)
    }

    @Test("blending allocates nothing", .enabled(if: allocation_counter_is_active()))
    func allocations() {
        var random = SeededGenerator(seed: 4)
        let bitmap = TestBitmap.random(using: &random)
        let layer = Raster.smooth(VideoDimensions(width: 90, height: 60)).picture
        var canvas = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: 128, height: 96))
        let half = Opacity(0.5)
        var counts: [UInt64] = [0, 0]
        canvas.withI420Region { region in
            layer.withPlanes { planes in
                let layer = I420Region(planes: planes, dimensions: VideoDimensions(width: 90, height: 60))
                func blendAll(opacity: Opacity) {
                    region.blend(bitmap.overlay, x: 5, y: 3, opacity: opacity)
                    region.blend(layer, x: 7, y: 3, opacity: opacity)
                    region.blend(layer, x: 8, y: 4, mask: bitmap.overlay.mask, maskX: 8, maskY: 4, opacity: opacity)
                    region.fill(PixelRect(x: 3, y: 3, width: 31, height: 17), with: .white, opacity: opacity)
                    region.fill(.black, mask: bitmap.overlay.mask, x: 9, y: 9, opacity: opacity)
                }
                for pass in 0..<2 {
                    let before = allocation_counter_read().count
                    blendAll(opacity: half)
                    blendAll(opacity: .opaque)
                    region.dim()
                    counts[pass] = allocation_counter_read().count - before
                }
            }
        }
        #expect(counts[1] == 0)
    }

    private func canvasSize(_ random: inout SeededGenerator) -> VideoDimensions {
        VideoDimensions(width: .random(in: 1...80, using: &random), height: .random(in: 1...60, using: &random))
    }

    private func position(
        of size: VideoDimensions, on canvas: VideoDimensions, _ random: inout SeededGenerator
    ) -> (x: Int, y: Int) {
        let x = Int.random(in: (-size.width - 1)...(canvas.width + 1), using: &random)
        let y = Int.random(in: (-size.height - 1)...(canvas.height + 1), using: &random)
        // For a region that begins right beside an odd picture, the definition would tint the last chroma sample.
        return (x == canvas.width ? x + 1 : x, y == canvas.height ? y + 1 : y)
    }

    private func anyOpacity(_ random: inout SeededGenerator) -> Opacity {
        Bool.random(using: &random) ? .opaque : Opacity(.random(in: 0...1, using: &random))
    }
}
