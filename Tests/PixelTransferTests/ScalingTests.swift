import MediaCore
import Testing

@testable import PixelTransfer

@Suite("scaling")
struct ScalingTests {
    /// Sizes to scale to from 64x48: smaller, larger, both, odd, tiny.
    static let sizes = [(32, 24), (21, 16), (13, 48), (128, 96), (200, 31), (65, 49), (1, 1), (2, 1), (63, 100)]

    @Test("one colour stays that colour in every size and format", arguments: formatPairs, sizes)
    func solidColour(pair: (PixelFormat, PixelFormat), size: (Int, Int)) throws {
        let values: [PixelFormat: [UInt8]] = [
            .i420: [82, 90, 240], .nv12: [82, 90, 240], .bgra: [0, 0, 255, 255],
        ]
        let picture = solid(pair.0, 64, 48, try #require(values[pair.0]))
        let result = try transfer(picture, to: attributes(pair.1, size: size))
        let expected = solid(pair.1, size.0, size.1, try #require(values[pair.1]))
        #expect(result.largestDifference(from: expected) <= 3)
    }

    @Test("a slow change stays one", arguments: formatPairs, [(32, 24), (48, 36), (128, 96), (90, 40)])
    func slowChange(pair: (PixelFormat, PixelFormat), size: (Int, Int)) throws {
        let result = try transfer(gradient(pair.0, 64, 48), to: attributes(pair.1, size: size))
        let expected = try transfer(gradient(pair.0, size.0, size.1), to: attributes(pair.1))
        #expect(result.largestDifference(from: expected) <= 12)
    }

    @Test("I420 and NV12 are scaled alike", arguments: sizes)
    func alike(size: (Int, Int)) throws {
        let planar = noise(.i420, 64, 48, seed: 4)
        let interleaved = try transfer(planar, to: attributes(.nv12))
        let expected = try transfer(planar, to: attributes(.i420, size: size))
        for source in [planar, interleaved] {
            for format in [PixelFormat.i420, .nv12] {
                let scaled = try transfer(source, to: attributes(format, size: size))
                #expect(try transfer(scaled, to: attributes(.i420)).allSamples == expected.allSamples)
            }
        }
    }

    @Test(
        "a region is scaled sample for sample as a picture is",
        arguments: [(640, 360), (65, 49), (64, 48), (21, 15)],
        [
            (666, 666), (510, 510), (990, 501), (750, 667), (750, 750), (500, 500), (400, 700), (1000, 600),
            (1500, 1500), (1331, 1333), (2000, 1990), (2000, 2000), (3700, 4100), (1400, 700), (600, 1900),
            (1000, 1300),
        ])
    func region(size: (width: Int, height: Int), thousandths: (x: Int, y: Int)) throws {
        let picture = noise(.i420, size.width, size.height, seed: 6)
        let (width, height) = (size.width * thousandths.x / 1000, size.height * thousandths.y / 1000)
        var scaled = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: width, height: height))
        picture.withPlanes { planes in
            scaled.withI420Region { $0.scale(I420Region(planes: planes, dimensions: picture.dimensions)) }
        }
        let expected = try transfer(picture, to: attributes(.i420, size: (width, height)))
        #expect(scaled.freeze().allSamples == expected.allSamples)
    }

    @Test("a region that is scaled changes nothing beside it", arguments: [(64, 48), (28, 20)])
    func besideRegion(size: (width: Int, height: Int)) {
        let picture = noise(.i420, size.width, size.height, seed: 7)
        let canvas = PixelRect(x: 0, y: 0, width: 80, height: 60)
        let place = PixelRect(x: 10, y: 6, width: 42, height: 30)
        var around = MutablePixelBuffer(format: .i420, dimensions: canvas.dimensions)
        around.withI420Region { canvas in
            canvas.fill(luma: 200)
            picture.withPlanes { planes in
                canvas.part(place).scale(I420Region(planes: planes, dimensions: picture.dimensions))
            }
            canvas.part(place).fill(luma: 200)
        }
        #expect(around.freeze().allSamples.first?.allSatisfy { $0 == 200 } == true)
    }

    @Test("halving takes the mean of four samples", arguments: formats)
    func halving(format: PixelFormat) throws {
        // Columns of 0 and 200: each pair means 100.
        let bytes = format == .bgra ? 4 : 1
        let picture = makePicture(format, 32, 32) { plane, x, _ in
            let pixel = format == .nv12 && plane == 1 ? x / 2 : x / bytes
            return pixel % 2 == 0 ? 0 : 200
        }
        let result = try transfer(picture, to: attributes(size: (16, 16)))
        #expect(result.allSamples.joined().allSatisfy { $0 == 100 })
    }

    @Test("shrinking to much less loses no sample", arguments: formats, [(21, 16), (12, 9), (8, 6), (2, 2)])
    func shrinking(format: PixelFormat, size: (Int, Int)) throws {
        // Every third column is white: a scaler that skips samples would see none, or only those.
        let bytes = format == .bgra ? 4 : 1
        let picture = makePicture(format, 63, 48) { plane, x, _ in
            if plane > 0 { return 128 }
            return x / bytes % 3 == 0 ? 240 : 0
        }
        let luma = try transfer(picture, to: attributes(size: size)).samples(0)
        let mean = luma.reduce(0) { $0 + Int($1) } / luma.count
        #expect((76...84).contains(mean))
        #expect(luma.allSatisfy { (40...120).contains($0) })
    }

    @Test("scaling to very few samples keeps the brightness", arguments: formats, [(1, 1), (3, 2), (10, 5), (20, 10)])
    func thumbnails(format: PixelFormat, size: (Int, Int)) throws {
        let values: [UInt8] = format == .bgra ? [200, 250, 240, 255] : [235, 90, 220]
        let result = try transfer(solid(format, 640, 360, values), to: attributes(size: size))
        #expect(result.allSamples == solid(format, size.0, size.1, values).allSamples)
    }

    @Test("memory between and after the rows is neither read nor written", arguments: formatPairs)
    func padding(pair: (PixelFormat, PixelFormat)) throws {
        let picture = noise(pair.0, 33, 19, seed: 5)
        for size in [(33, 19), (16, 9), (50, 30)] {
            let required = attributes(pair.1, size: size, rowAlignment: 64)
            let plain = try transfer(picture, to: required)
            for filler in [UInt8(0), 0xFF] {
                let placed = picture.placed(offset: 1, padding: 13, filler: filler)
                #expect(try transfer(placed, to: required).allSamples == plain.allSamples)
            }
        }
    }
}
