import MediaCore
import Testing

@testable import PixelTransfer

@Suite("pictures and requirements that cannot be")
struct HostilePictureTests {
    /// A picture that claims a size it has no memory for. It must be refused before it is read.
    private func claiming(_ width: Int, _ height: Int, stride: Int) throws -> PixelBuffer {
        let base = try #require(UnsafeMutableRawPointer(bitPattern: 4096))
        return PixelBuffer(
            wrapping: [PixelBufferPlane(base: base, stride: stride, rows: height)], format: .bgra,
            dimensions: VideoDimensions(width: width, height: height), release: {})
    }

    @Test(
        "a size that cannot be made is an error",
        arguments: [(0, 10), (10, 0), (-1, 10), (32768, 10), (10, Int.max), (Int.min, Int.min)])
    func impossibleDestination(size: (Int, Int)) {
        let dimensions = VideoDimensions(width: size.0, height: size.1)
        #expect(throws: PixelTransferError.unsupportedDimensions(dimensions)) {
            try transfer(gradient(.i420, 8, 8), to: attributes(size: size))
        }
    }

    @Test("an alignment that cannot be had is an error", arguments: [3, 96, 8192, 1 << 40, Int.max])
    func impossibleAlignment(alignment: Int) {
        var required = attributes()
        required.rowAlignment = alignment
        #expect(throws: PixelTransferError.unsupportedAlignment(alignment)) {
            try transfer(gradient(.i420, 8, 8).placed(offset: 1), to: required)
        }
    }

    @Test("a picture that is too large is an error", arguments: [(32768, 1), (1, 32768), (1 << 40, 1)])
    func impossibleSource(size: (Int, Int)) throws {
        let picture = try claiming(size.0, size.1, stride: size.0 * 4)
        #expect(throws: PixelTransferError.unsupportedDimensions(picture.dimensions)) {
            try transfer(picture, to: attributes(.i420))
        }
        #expect(throws: PixelTransferError.unsupportedDimensions(picture.dimensions)) {
            try transfer(picture, to: attributes(size: (8, 8)))
        }
    }

    @Test("a stride that cannot be told is an error", arguments: [Int(Int32.max) + 1, Int.max])
    func impossibleStride(stride: Int) throws {
        let picture = try claiming(8, 1, stride: stride)
        #expect(throws: PixelTransferError.unsupportedStride(stride)) {
            try transfer(picture, to: attributes(.i420))
        }
    }

    @Test("the largest sides work", arguments: [(32767, 1), (1, 32767)])
    func largest(size: (Int, Int)) throws {
        let picture = solid(.i420, size.0, size.1, [50, 60, 70])
        #expect(try transfer(picture, to: attributes(.nv12)).samples(0).allSatisfy { $0 == 50 })
        #expect(try transfer(picture, to: attributes(size: (16, 16))).samples(0).allSatisfy { $0 == 50 })
        let small = solid(.i420, 16, 16, [50, 60, 70])
        #expect(try transfer(small, to: attributes(size: size)).samples(0).allSatisfy { $0 == 50 })
    }

    @Test("a failed transfer is not counted and the session continues")
    func goesOn() throws {
        let session = PixelTransferSession(destination: attributes(.bgra))
        let strange = gradient(.i420, 8, 8, colour: ColourDescription(matrixCoefficients: 8))
        #expect(throws: PixelTransferError.self) { try session.transfer(strange) }
        _ = try session.transfer(gradient(.i420, 8, 8))
        #expect(session.statistics.converted == 1)
    }

    @Test("every error says what to do")
    func messages() {
        let errors: [PixelTransferError] = [
            .unsupportedDimensions(VideoDimensions(width: 0, height: 1)), .unsupportedStride(1),
            .unsupportedAlignment(1 << 20), .unsupportedMatrix(8), .outOfMemory,
        ]
        #expect(Set(errors.map(\.description)).count == errors.count)
    }
}
