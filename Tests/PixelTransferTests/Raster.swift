import MediaCore

@testable import PixelTransfer

/// A small I420 picture to blend onto, with the slow and plain way of blending to hold the fast one against.
struct Raster {
    let picture: PixelBuffer
    private let planes: [[UInt8]]

    var dimensions: VideoDimensions { picture.dimensions }
    private var chromaSize: (width: Int, height: Int) { ((dimensions.width + 1) / 2, (dimensions.height + 1) / 2) }

    init(_ picture: PixelBuffer) {
        self.picture = picture
        planes = picture.allSamples
    }

    static func random(_ size: VideoDimensions, using random: inout SeededGenerator) -> Raster {
        Raster(noise(.i420, size.width, size.height, seed: random.next()))
    }

    /// Colours that change by one from chroma sample to chroma sample.
    static func smooth(_ size: VideoDimensions) -> Raster {
        Raster(
            makePicture(.i420, size.width, size.height) { plane, x, y in
                plane == 0 ? UInt8((x * 5 + y * 3) % 256) : UInt8(clamping: 100 + (plane == 1 ? x : y))
            })
    }

    /// The colour of a luma sample, with that of its chroma sample.
    func colour(_ x: Int, _ y: Int) -> YCbCrColour {
        let (x, y) = (min(max(0, x), dimensions.width - 1), min(max(0, y), dimensions.height - 1))
        let index = y / 2 * chromaSize.width + x / 2
        return YCbCrColour(y: planes[0][y * dimensions.width + x], u: planes[1][index], v: planes[2][index])
    }

    /// The raster after `body` has changed its region.
    func blended(_ body: (I420Region) -> Void) -> Raster {
        var copy = MutablePixelBuffer(format: .i420, dimensions: dimensions)
        copy.withI420Region { region in
            picture.withPlanes { region.copy(I420Region(planes: $0, dimensions: dimensions)) }
            body(region)
        }
        return Raster(copy.freeze())
    }

    /// Blends by the definition: each luma sample by its weight, each chroma sample by the mean weight of its four luma
    /// samples, those outside the picture too, with their colours' mean by weight.
    func mixed(with layer: (_ x: Int, _ y: Int) -> (colour: YCbCrColour, weight: Double)) -> Raster {
        var result = planes
        for y in 0..<dimensions.height {
            for x in 0..<dimensions.width {
                let index = y * dimensions.width + x
                let (colour, weight) = layer(x, y)
                result[0][index] = Self.mix(planes[0][index], Double(colour.y), weight)
            }
        }
        for y in 0..<chromaSize.height {
            for x in 0..<chromaSize.width {
                var (u, v, sum) = (0.0, 0.0, 0.0)
                for sampleY in (2 * y)...(2 * y + 1) {
                    for sampleX in (2 * x)...(2 * x + 1) {
                        let (colour, weight) = layer(sampleX, sampleY)
                        u += weight * Double(colour.u)
                        v += weight * Double(colour.v)
                        sum += weight
                    }
                }
                guard sum > 0 else { continue }
                let index = y * chromaSize.width + x
                result[1][index] = Self.mix(planes[1][index], u / sum, sum / 4)
                result[2][index] = Self.mix(planes[2][index], v / sum, sum / 4)
            }
        }
        return Raster(
            makePicture(.i420, dimensions.width, dimensions.height) { plane, x, y in
                result[plane][y * (plane == 0 ? dimensions.width : chromaSize.width) + x]
            })
    }

    /// Blends by the definition in a rectangle, by one weight. The half of a chroma sample that is outside the picture
    /// is like the half that is inside.
    func mixed(in rect: PixelRect, weight: Double, _ colour: (_ x: Int, _ y: Int) -> YCbCrColour) -> Raster {
        mixed { x, y in
            let isInside = rect.contains(x: min(x, dimensions.width - 1), y: min(y, dimensions.height - 1))
            return (colour(x, y), isInside ? weight : 0)
        }
    }

    func largestDifference(from other: Raster) -> Int { picture.largestDifference(from: other.picture) }

    /// Returns true if all samples but those of a rectangle are the same.
    func isSame(as other: Raster, outside rect: PixelRect) -> Bool {
        for y in 0..<dimensions.height {
            for x in 0..<dimensions.width where !rect.contains(x: x, y: y) {
                if colour(x, y) != other.colour(x, y) { return false }
            }
        }
        return true
    }

    private static func mix(_ below: UInt8, _ above: Double, _ weight: Double) -> UInt8 {
        UInt8((Double(below) + (above - Double(below)) * weight).rounded())
    }
}

/// A bitmap with alpha whose colours are known.
struct TestBitmap {
    let dimensions: VideoDimensions
    let overlay: OverlayBitmap
    private let alphas: [UInt8]
    private let colours: [YCbCrColour]

    private init(_ dimensions: VideoDimensions, _ sample: (Int, Int) -> (bgr: [UInt8], alpha: UInt8)) {
        self.dimensions = dimensions
        var (bytes, alphas, straight) = ([UInt8](), [UInt8](), [UInt8]())
        for y in 0..<dimensions.height {
            for x in 0..<dimensions.width {
                let (bgr, alpha) = sample(x, y)
                alphas.append(alpha)
                straight += bgr
                bytes += bgr.map { UInt8((Int($0) * Int(alpha) + 127) / 255) } + [alpha]
            }
        }
        self.alphas = alphas
        colours = stride(from: 0, to: straight.count, by: 3).map { index in
            YCbCrColour(
                red: Double(straight[index + 2]) / 255, green: Double(straight[index + 1]) / 255,
                blue: Double(straight[index]) / 255)
        }
        overlay = bytes.withUnsafeMutableBytes { bytes in
            OverlayBitmap(
                premultipliedBGRA: PixelBufferPlane(
                    base: bytes.baseAddress!, stride: 4 * dimensions.width, rows: dimensions.height),
                dimensions: dimensions)
        }
    }

    /// A bitmap of a random size with any colours, transparent, opaque or, more than faintly, between.
    static func random(using random: inout SeededGenerator) -> TestBitmap {
        let size = VideoDimensions(
            width: .random(in: 1...70, using: &random), height: .random(in: 1...30, using: &random))
        var generator = random
        defer { random = generator }
        return TestBitmap(size) { _, _ in
            let alpha: UInt8 =
                switch Int.random(in: 0...3, using: &generator) {
                case 0: 0
                case 1: 255
                // Colours of faint samples are known roughly only, once they were multiplied by alpha.
                default: .random(in: 100...255, using: &generator)
                }
            return ((0..<3).map { _ in .random(in: 0...255, using: &generator) }, alpha)
        }
    }

    static func solid(_ size: VideoDimensions, alpha: UInt8) -> TestBitmap {
        TestBitmap(size) { _, _ in ([40, 200, 90], alpha) }
    }

    /// From 0 to 1; 0 outside.
    func alpha(_ x: Int, _ y: Int) -> Double { contains(x, y) ? Double(alphas[y * dimensions.width + x]) / 255 : 0 }

    func colour(_ x: Int, _ y: Int) -> YCbCrColour {
        contains(x, y) ? colours[y * dimensions.width + x] : .black
    }

    private func contains(_ x: Int, _ y: Int) -> Bool {
        x >= 0 && y >= 0 && x < dimensions.width && y < dimensions.height
    }
}

extension PixelRect {
    func contains(x: Int, y: Int) -> Bool { x >= self.x && y >= self.y && x < maxX && y < maxY }
}
