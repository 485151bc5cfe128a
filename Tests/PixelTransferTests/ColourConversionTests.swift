import MediaCore
import Testing

@testable import PixelTransfer

/// A matrix and a range.
private struct Encoding: Sendable, CustomStringConvertible {
    var matrix: UInt8
    var isFullRange: Bool

    var colour: ColourDescription { ColourDescription(matrixCoefficients: matrix, isFullRange: isFullRange) }
    var description: String { "matrix \(matrix), \(isFullRange ? "full" : "limited")" }

    static let all = [6, 1, 9].flatMap { matrix in [false, true].map { Encoding(matrix: matrix, isFullRange: $0) } }

    private var weights: (red: Double, blue: Double) {
        switch matrix {
        case 1: (0.2126, 0.0722)
        case 9: (0.2627, 0.0593)
        default: (0.299, 0.114)
        }
    }

    /// The samples that an encoding's samples become, by the formulas of H.273 8.3 in both directions.
    func samples(of other: [UInt8], in source: Encoding) -> [Double] {
        let (red, blue) = source.weights
        let (lumaSpan, chromaSpan) = source.isFullRange ? (255.0, 255.0) : (219, 224)
        let luma = (Double(other[0]) - (source.isFullRange ? 0 : 16)) / lumaSpan
        let r = luma + 2 * (1 - red) * (Double(other[2]) - 128) / chromaSpan
        let b = luma + 2 * (1 - blue) * (Double(other[1]) - 128) / chromaSpan
        let g = (luma - red * r - blue * b) / (1 - red - blue)
        let own = weights
        let y = own.red * r + (1 - own.red - own.blue) * g + own.blue * b
        let (u, v) = ((b - y) / (2 * (1 - own.blue)), (r - y) / (2 * (1 - own.red)))
        return (isFullRange ? [255 * y, 128 + 255 * u, 128 + 255 * v] : [16 + 219 * y, 128 + 224 * u, 128 + 224 * v])
            .map { min(max($0, 0), 255) }
    }
}

@Suite("Conversion between matrices and ranges")
struct ColourConversionTests {
    private func converted(_ picture: PixelBuffer, to colour: ColourDescription) throws -> PixelBuffer {
        let conversion = try #require(ColourConversion(from: picture.attachments.colour, to: colour))
        var result = MutablePixelBuffer(format: .i420, dimensions: picture.dimensions)
        result.withI420Region { region in
            picture.withPlanes {
                region.convert(I420Region(planes: $0, dimensions: picture.dimensions), by: conversion)
            }
        }
        return result.freeze()
    }

    @Test("every sample is within one level of the exact result", arguments: Encoding.all, Encoding.all)
    private func exact(source: Encoding, target: Encoding) throws {
        guard source.description != target.description else { return }
        for y in stride(from: 0, through: 255, by: 15) {
            for (u, v) in [(128, 128), (16, 240), (240, 16), (0, 255), (255, 0), (90, 200), (0, 0), (255, 255)] {
                let samples = [y, u, v].map { UInt8($0) }
                let result = try converted(solid(.i420, 16, 2, samples, colour: source.colour), to: target.colour)
                for (plane, expected) in target.samples(of: samples, in: source).enumerated() {
                    #expect(abs(Double(result.samples(plane)[0]) - expected) < 0.6, "\(samples)")
                }
            }
        }
    }

    @Test("the greys of full range keep their places between black and white")
    func greys() throws {
        for (full, limited) in [(0, 16), (32, 43), (128, 126), (224, 208), (255, 235)] {
            for matrix: UInt8 in [1, 2, 6, 9] {
                let colour = ColourDescription(matrixCoefficients: matrix, isFullRange: true)
                let picture = solid(.i420, 4, 4, [UInt8(full), 128, 128], colour: colour)
                let result = try converted(picture, to: .bt601)
                #expect(result.allSamples.map { $0[0] } == [UInt8(limited), 128, 128])
            }
        }
    }

    @Test(
        "each sample of any size is converted, in place too",
        arguments: [(1, 1), (2, 2), (15, 3), (16, 2), (17, 5), (31, 7), (33, 4), (48, 1)])
    func sizes(size: (Int, Int)) throws {
        let colour = ColourDescription(primaries: 1, matrixCoefficients: 1, isFullRange: true)
        let noise = noise(.i420, size.0, size.1, seed: 9)
        let picture = makePicture(.i420, size.0, size.1, colour: colour) { plane, x, y in
            noise.samples(plane)[y * (plane == 0 ? size.0 : (size.0 + 1) / 2) + x]
        }
        let result = try converted(picture.placed(offset: 1, padding: 3), to: .bt601)
        let conversion = try #require(ColourConversion(from: colour, to: .bt601))
        var inPlace = MutablePixelBuffer(format: .i420, dimensions: picture.dimensions)
        inPlace.withI420Region { region in
            picture.withPlanes { region.copy(I420Region(planes: $0, dimensions: picture.dimensions)) }
            region.convert(region, by: conversion)
        }
        #expect(inPlace.freeze().allSamples == result.allSamples)
        let (source, target) = (Encoding(matrix: 1, isFullRange: true), Encoding(matrix: 6, isFullRange: false))
        for y in 0..<size.1 {
            for x in 0..<size.0 {
                let chroma = y / 2 * ((size.0 + 1) / 2) + x / 2
                let luma = picture.samples(0)[y * size.0 + x]
                let samples = [luma, picture.samples(1)[chroma], picture.samples(2)[chroma]]
                let expected = target.samples(of: samples, in: source)
                #expect(abs(Double(result.samples(0)[y * size.0 + x]) - expected[0]) < 0.6)
                #expect(abs(Double(result.samples(1)[chroma]) - expected[1]) < 0.6)
                #expect(abs(Double(result.samples(2)[chroma]) - expected[2]) < 0.6)
            }
        }
    }

    @Test("colours of the same matrix and range need no conversion, even with other primaries and transfer")
    func same() {
        #expect(ColourConversion(from: .unspecified, to: .bt601) == nil)
        #expect(ColourConversion(from: ColourDescription(matrixCoefficients: 5), to: .bt601) == nil)
        #expect(ColourConversion(from: ColourDescription(primaries: 1, matrixCoefficients: 6), to: .bt601) == nil)
        #expect(ColourConversion(from: .bt709, to: .bt601) != nil)
        #expect(ColourConversion(from: ColourDescription(isFullRange: true), to: .bt601) != nil)
    }

    @Test("a matrix that is not for 4:2:0 pictures is taken for BT.601", arguments: [0, 3, 8, 10, 14, 255])
    func unknownMatrix(code: UInt8) {
        let limited = ColourDescription(matrixCoefficients: code)
        #expect(ColourConversion(from: limited, to: .bt601) == nil)
        let full = ColourDescription(matrixCoefficients: code, isFullRange: true)
        #expect(
            ColourConversion(from: full, to: .bt601)
                == ColourConversion(from: ColourDescription(isFullRange: true), to: .bt601))
    }
}
