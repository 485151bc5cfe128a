import Foundation
import MediaCore
import Testing

@testable import PixelTransfer

@Suite("picture quality")
struct PictureQualityTests {
    @Test("a difference of one level is 48.13 dB")
    func oneLevel() throws {
        let ratio = try PictureQuality.psnr(
            solid(.i420, 35, 17, [100, 100, 100]), solid(.i420, 35, 17, [101, 102, 95]))
        #expect(abs(ratio.y - 48.1308) < 0.0001)
        #expect(abs(ratio.u - (48.1308 - 20 * log10(2))) < 0.0001)
        #expect(abs(ratio.v - (48.1308 - 20 * log10(5))) < 0.0001)
    }

    @Test("the average weighs planes by their samples, as ffmpeg's does")
    func average() throws {
        // Mean squared errors 1, 4 and 25 in 16, 4 and 4 of 24 samples: (16 + 16 + 100) / 24 = 5.5.
        let ratio = try PictureQuality.psnr(
            solid(.i420, 4, 4, [100, 100, 100]), solid(.i420, 4, 4, [101, 102, 95]))
        #expect(abs(ratio.average - 10 * log10(255 * 255 / 5.5)) < 1e-9)
    }

    @Test("equal pictures are infinitely near")
    func equal() throws {
        let picture = noise(.i420, 33, 21, seed: 1)
        let ratio = try PictureQuality.psnr(picture, picture.placed(offset: 1, padding: 9))
        #expect(ratio == PeakSignalToNoiseRatio(y: .infinity, u: .infinity, v: .infinity, average: .infinity))
        #expect(try PictureQuality.ssim(picture, picture.placed(padding: 3)) == 1)
        #expect(PictureQuality.decibels(ssim: 1) == .infinity)
    }

    @Test("the largest difference does not overflow", arguments: [(512, 512), (4096, 64), (31, 2000)])
    func largest(size: (Int, Int)) throws {
        let error = try PictureQuality.squaredError(
            solid(.i420, size.0, size.1, [0, 0, 0]), solid(.i420, size.0, size.1, [255, 255, 255]))
        #expect(error.y == SquaredError.Plane(sum: UInt64(size.0 * size.1 * 65025), count: UInt64(size.0 * size.1)))
        #expect(error.psnr.average == 0)
    }

    @Test("errors equal those of a plain sum, for any rows", arguments: [(1, 1), (7, 5), (64, 48), (65, 33)])
    func plainSum(size: (Int, Int)) throws {
        let left = noise(.i420, size.0, size.1, seed: 2)
        let right = noise(.i420, size.0, size.1, seed: 3)
        let sums = (0..<3).map { plane in
            zip(left.samples(plane), right.samples(plane)).reduce(UInt64(0)) { sum, pair in
                let difference = Int(pair.0) - Int(pair.1)
                return sum + UInt64(difference * difference)
            }
        }
        let error = try PictureQuality.squaredError(left.placed(offset: 3, padding: 5), right)
        #expect([error.y.sum, error.u.sum, error.v.sum] == sums)
    }

    @Test("interleaved chroma counts like planes")
    func interleaved() throws {
        let left = noise(.i420, 33, 21, seed: 4)
        let right = noise(.i420, 33, 21, seed: 5)
        let expected = try PictureQuality.squaredError(left, right)
        let interleaved = try transfer(left, to: attributes(.nv12))
        #expect(try PictureQuality.squaredError(interleaved, right) == expected)
        #expect(try PictureQuality.ssim(interleaved, right) == PictureQuality.ssim(left, right))
    }

    @Test("a sequence's ratio is that of its mean error")
    func sequence() throws {
        let black = solid(.i420, 16, 16, [16, 128, 128])
        var total = SquaredError()
        for level in [18, 20, 16] as [UInt8] {
            total += try PictureQuality.squaredError(black, solid(.i420, 16, 16, [level, 128, 128]))
        }
        // (4 + 16 + 0) / 3
        #expect(abs(total.psnr.y - 10 * log10(255 * 255 * 3 / 20)) < 1e-9)
        #expect(total.psnr.u == .infinity)
    }

    /// Wang's formula 13 over 8×8 windows, written out.
    private func structuralSimilarity(_ left: PixelBuffer, _ right: PixelBuffer) -> Double {
        let (width, height) = (left.dimensions.width, left.dimensions.height)
        let (a, b) = (left.samples(0).map(Double.init), right.samples(0).map(Double.init))
        var total = 0.0
        var count = 0.0
        for y in stride(from: 0, to: height - 8, by: 4) {
            for x in stride(from: 0, to: width - 8, by: 4) {
                let places = (0..<64).map { (y + $0 / 8) * width + x + $0 % 8 }
                let meanA = places.reduce(0) { $0 + a[$1] } / 64
                let meanB = places.reduce(0) { $0 + b[$1] } / 64
                let varianceA = places.reduce(0) { $0 + (a[$1] - meanA) * (a[$1] - meanA) } / 64
                let varianceB = places.reduce(0) { $0 + (b[$1] - meanB) * (b[$1] - meanB) } / 64
                let covariance = places.reduce(0) { $0 + (a[$1] - meanA) * (b[$1] - meanB) } / 64
                let (c1, c2) = (2.55 * 2.55, 7.65 * 7.65)
                total +=
                    (2 * meanA * meanB + c1) * (2 * covariance + c2)
                    / ((meanA * meanA + meanB * meanB + c1) * (varianceA + varianceB + c2))
                count += 1
            }
        }
        return total / count
    }

    @Test("structural similarity is Wang's, over windows of 8x8", arguments: [(9, 9), (12, 30), (65, 47), (64, 48)])
    func similarity(size: (Int, Int)) throws {
        let left = gradient(.i420, size.0, size.1)
        for right in [noise(.i420, size.0, size.1, seed: 6), solid(.i420, size.0, size.1, [120, 0, 0])] {
            let similarity = try PictureQuality.ssim(left, right)
            #expect(abs(similarity - structuralSimilarity(left, right)) < 1e-5)
            #expect(similarity < 0.9)
        }
    }

    @Test("similarity in dB counts the nines")
    func decibels() {
        #expect(abs(PictureQuality.decibels(ssim: 0.9) - 10) < 1e-9)
        #expect(abs(PictureQuality.decibels(ssim: 0.999) - 30) < 1e-9)
        #expect(PictureQuality.decibels(ssim: 0) == 0)
    }

    @Test("pictures that cannot be compared are errors")
    func errors() {
        let picture = solid(.i420, 16, 16, [16, 128, 128])
        #expect(
            throws: PictureQualityError.differentDimensions(
                picture.dimensions, VideoDimensions(width: 16, height: 8))
        ) { try PictureQuality.psnr(picture, solid(.i420, 16, 8, [16, 128, 128])) }
        #expect(throws: PictureQualityError.unsupportedFormat(.bgra)) {
            try PictureQuality.psnr(picture, gradient(.bgra, 16, 16))
        }
        for size in [(8, 16), (16, 8), (1, 1)] {
            let small = solid(.i420, size.0, size.1, [16, 128, 128])
            #expect(throws: PictureQualityError.tooSmall(small.dimensions)) { try PictureQuality.ssim(small, small) }
        }
    }
}
