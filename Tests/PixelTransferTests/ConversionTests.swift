import MediaCore
import Testing

@testable import PixelTransfer

private func described(_ matrix: UInt8, isFullRange: Bool) -> ColourDescription {
    ColourDescription(matrixCoefficients: matrix, isFullRange: isFullRange)
}

/// A colour by H.273's formulas: 8.3, with the weights of table 4.
private struct Golden: Sendable, CustomStringConvertible {
    var matrix: UInt8
    var isFullRange: Bool
    var bgra: [UInt8]

    var colour: ColourDescription { described(matrix, isFullRange: isFullRange) }
    var description: String { "matrix \(matrix), \(isFullRange ? "full" : "limited"), BGRA \(bgra)" }

    var yuv: [UInt8] {
        let (redWeight, blueWeight) =
            switch matrix {
            case 1: (0.2126, 0.0722)
            case 9: (0.2627, 0.0593)
            default: (0.299, 0.114)
            }
        let (blue, green, red) = (Double(bgra[0]) / 255, Double(bgra[1]) / 255, Double(bgra[2]) / 255)
        let luma = redWeight * red + (1 - redWeight - blueWeight) * green + blueWeight * blue
        let u = (blue - luma) / (2 * (1 - blueWeight))
        let v = (red - luma) / (2 * (1 - redWeight))
        let values =
            isFullRange
            ? [255 * luma, 128 + 255 * u, 128 + 255 * v] : [16 + 219 * luma, 128 + 224 * u, 128 + 224 * v]
        return values.map { UInt8(clamping: Int($0.rounded())) }
    }

    static let all: [Golden] = [1, 2, 5, 6, 9].flatMap { matrix in
        [false, true].flatMap { isFullRange in
            [[0, 0, 255], [0, 255, 0], [255, 0, 0], [0, 0, 0], [255, 255, 255], [40, 120, 200], [128, 128, 128]].map {
                Golden(matrix: matrix, isFullRange: isFullRange, bgra: $0 + [255])
            }
        }
    }
}

@Suite("conversion between formats")
struct ConversionTests {
    /// libyuv's arithmetic in 6 to 8 bits goes astray by as much.
    private let tolerance = 3

    @Test("BGRA becomes YCbCr by the matrix and the range of its colour", arguments: Golden.all)
    private func fromBGRA(golden: Golden) throws {
        let picture = solid(.bgra, 6, 4, golden.bgra, colour: golden.colour)
        for format in [PixelFormat.i420, .nv12] {
            let expected = solid(format, 6, 4, golden.yuv)
            #expect(try transfer(picture, to: attributes(format)).largestDifference(from: expected) <= 1)
        }
    }

    @Test("YCbCr becomes BGRA by the matrix and the range of its colour", arguments: Golden.all)
    private func toBGRA(golden: Golden) throws {
        let expected = solid(.bgra, 6, 4, golden.bgra)
        for format in [PixelFormat.i420, .nv12] {
            let picture = solid(format, 6, 4, golden.yuv, colour: golden.colour)
            #expect(try transfer(picture, to: attributes(.bgra)).largestDifference(from: expected) <= tolerance)
        }
    }

    @Test("pure red has the values of the recommendations' tables")
    func tables() throws {
        func red(_ colour: ColourDescription) throws -> [UInt8] {
            try transfer(solid(.bgra, 2, 2, [0, 0, 255, 255], colour: colour), to: attributes(.i420))
                .allSamples.map { $0[0] }
        }
        // In 7 bits, as libyuv has it; in full precision it is 81, 90 and 240.
        #expect(try red(.bt601) == [82, 90, 239])
        #expect(try red(.unspecified) == [82, 90, 239])
        #expect(try red(.bt709) == [63, 102, 240])
        #expect(try red(described(1, isFullRange: true)) == [54, 99, 255])
    }

    @Test("4:2:0 formats have the same samples", arguments: [(1, 1), (2, 2), (7, 5), (64, 48), (129, 33)])
    func planarAndInterleaved(size: (Int, Int)) throws {
        let picture = noise(.i420, size.0, size.1, seed: 3)
        let interleaved = try transfer(picture, to: attributes(.nv12))
        #expect(interleaved.samples(0) == picture.samples(0))
        let pairs = zip(picture.samples(1), picture.samples(2)).flatMap { [$0, $1] }
        #expect(interleaved.samples(1) == pairs)
        #expect(try transfer(interleaved, to: attributes(.i420)).allSamples == picture.allSamples)
    }

    @Test(
        "a picture comes back nearly the same from any other format", arguments: formatPairs,
        [
            described(2, isFullRange: false), described(6, isFullRange: true), described(1, isFullRange: false),
            described(1, isFullRange: true), described(9, isFullRange: false), described(9, isFullRange: true),
        ])
    func roundTrip(pair: (PixelFormat, PixelFormat), colour: ColourDescription) throws {
        for size in [(64, 48), (65, 47), (3, 3), (1, 1)] {
            let picture = gradient(pair.0, size.0, size.1, colour: colour)
            let back = try transfer(transfer(picture, to: attributes(pair.1)), to: attributes(pair.0))
            // In a small gradient neighbours differ by much, and share their colour in 4:2:0.
            let isLossy = size.0 < 10 && (pair.0 == .bgra) != (pair.1 == .bgra)
            #expect(back.largestDifference(from: picture) <= (isLossy ? 150 : 8), "\(size)")
        }
    }

    @Test("the colour of odd edges is of the samples that are there", arguments: [PixelFormat.i420, .nv12])
    func oddEdges(format: PixelFormat) throws {
        // Red, with a blue last column and row.
        let picture = makePicture(.bgra, 5, 3, colour: .bt709) { _, x, y in
            let isBlue = x / 4 == 4 || y == 2
            return [isBlue ? 255 : 0, 0, isBlue ? 0 : 255, 255][x % 4]
        }
        let result = try transfer(picture, to: attributes(format))
        let chroma =
            format == .i420
            ? zip(result.samples(1), result.samples(2)).map { [$0, $1] }
            : stride(from: 0, to: 12, by: 2).map { Array(result.samples(1)[$0..<($0 + 2)]) }
        let (red, blue): ([UInt8], [UInt8]) = ([102, 240], [240, 118])
        #expect(chroma == [red, red, blue, blue, blue, blue])
    }

    @Test("opaque pictures stay opaque")
    func opaque() throws {
        let result = try transfer(gradient(.i420, 9, 7), to: attributes(.bgra))
        let alpha = result.samples(0).enumerated().filter { $0.offset % 4 == 3 }.map(\.element)
        #expect(alpha.allSatisfy { $0 == 255 })
    }

    @Test("a matrix that is not for 4:2:0 pictures is an error that names it", arguments: [0, 3, 8, 10, 14, 255])
    func unknownMatrix(code: UInt8) throws {
        let colour = described(code, isFullRange: false)
        for (source, destination) in [(PixelFormat.i420, PixelFormat.bgra), (.nv12, .bgra), (.bgra, .nv12)] {
            let error = #expect(throws: PixelTransferError.unsupportedMatrix(code)) {
                try transfer(gradient(source, 8, 8, colour: colour), to: attributes(destination))
            }
            #expect(error?.description.contains("\(code)") == true)
        }
        // Without a conversion of colours, the matrix does not matter.
        #expect(try transfer(gradient(.i420, 8, 8, colour: colour), to: attributes(.nv12)).attachments.colour == colour)
    }

    @Test("a picture is written as BGRA into another's memory, and only there")
    func writeBGRA() throws {
        let picture = gradient(.nv12, 5, 3)
        let expected = try transfer(picture, to: attributes(.bgra)).samples(0)
        var bytes = [UInt8](repeating: 0xEE, count: 3 * 32)
        try bytes.withUnsafeMutableBytes { memory in
            try picture.writeBGRA(to: PixelBufferPlane(base: #require(memory.baseAddress), stride: 32, rows: 3))
        }
        for row in 0..<3 {
            #expect(Array(bytes[(row * 32)..<(row * 32 + 20)]) == Array(expected[(row * 20)..<(row * 20 + 20)]))
            #expect(bytes[(row * 32 + 20)..<(row * 32 + 32)].allSatisfy { $0 == 0xEE })
        }
    }
}
