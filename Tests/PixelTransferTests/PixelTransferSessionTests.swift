import MediaCore
import Testing

@testable import PixelTransfer

@Suite("results of a transfer session")
struct PixelTransferSessionTests {
    @Test(
        "a picture that is as required is handed on itself",
        arguments: [
            attributes(), attributes(.i420), attributes(.nv12, .i420), attributes(size: (64, 48)),
            attributes(.i420, size: (64, 48), rowAlignment: 64),
        ])
    func passesThrough(required: PixelBufferAttributes) throws {
        let session = PixelTransferSession(destination: required)
        let picture = gradient(.i420, 64, 48)
        for _ in 0..<3 { #expect(try session.transfer(picture) === picture) }
        #expect(session.statistics.passedThrough == 3)
        #expect(session.statistics.converted == 0)
    }

    @Test(
        "a picture that is not as required is made so",
        arguments: [
            attributes(.nv12), attributes(.bgra, .nv12), attributes(size: (32, 32)),
            attributes(.nv12, size: (100, 48)), attributes(.bgra, size: (31, 47), rowAlignment: 32),
        ])
    func converts(required: PixelBufferAttributes) throws {
        let session = PixelTransferSession(destination: required)
        let picture = gradient(.i420, 64, 48)
        let result = try session.transfer(picture)
        #expect(required.isSatisfied(by: result))
        #expect(!(result === picture))
        #expect(session.statistics.passedThrough == 0)
        #expect(session.statistics.converted == 1)
    }

    @Test("a converted picture satisfies the attributes and is not converted again")
    func isStable() throws {
        let session = PixelTransferSession(destination: attributes(.bgra, size: (33, 21), rowAlignment: 64))
        let once = try session.transfer(gradient(.nv12, 64, 48))
        #expect(try session.transfer(once) === once)
    }

    @Test("the best acceptable format is taken, and an acceptable one is kept")
    func choosesFormat() throws {
        let picture = gradient(.i420, 64, 48)
        #expect(try transfer(picture, to: attributes(.nv12, .bgra)).format == .nv12)
        #expect(try transfer(picture, to: attributes(.bgra, .nv12)).format == .bgra)
        #expect(try transfer(picture, to: attributes(.bgra, .i420, size: (32, 24))).format == .i420)
        #expect(try transfer(picture, to: attributes(size: (32, 24))).format == .i420)
    }

    @Test("rows are aligned without a change of the samples", arguments: formats, [(1, 0), (0, 5), (3, 7)])
    func realigns(format: PixelFormat, placement: (offset: Int, padding: Int)) throws {
        let picture = noise(format, 35, 17, seed: 1).placed(offset: placement.offset, padding: placement.padding)
        let result = try transfer(picture, to: attributes(rowAlignment: 64))
        #expect(result.isAlignedTo64)
        #expect(result.format == format)
        #expect(result.allSamples == picture.allSamples)
    }

    @Test("rows are aligned to as much as a page", arguments: [128, 256, 4096], formats)
    func realignsFar(alignment: Int, format: PixelFormat) throws {
        let required = attributes(rowAlignment: alignment)
        let picture = noise(format, 35, 17, seed: 6).placed(offset: 64)
        let result = try transfer(picture, to: required)
        #expect(required.isSatisfied(by: result))
        #expect(result.allSamples == picture.allSamples)
    }

    @Test("in steady state no picture is allocated", arguments: formatPairs)
    func steadyState(source: PixelFormat, destination: PixelFormat) throws {
        let session = PixelTransferSession(destination: attributes(destination, size: (48, 30)))
        let picture = gradient(source, 64, 48)
        _ = try session.transfer(picture)
        let allocated = session.pictureAllocations
        for _ in 0..<10 { _ = try session.transfer(picture) }
        #expect(session.pictureAllocations == allocated)
        #expect(session.statistics.converted == 11)
    }

    @Test("a picture outlives its session")
    func outlives() throws {
        var session: PixelTransferSession? = PixelTransferSession(destination: attributes(.nv12))
        let picture = noise(.i420, 20, 10, seed: 2)
        let result = try session?.transfer(picture)
        session = nil
        #expect(result?.samples(0) == picture.samples(0))
    }

    @Test("pictures held do not change when others are transferred")
    func results() throws {
        let session = PixelTransferSession(destination: attributes(.nv12))
        let pictures = (0..<5).map { noise(.i420, 20, 10, seed: UInt64($0)) }
        let results = try pictures.map { try session.transfer($0) }
        for (picture, result) in zip(pictures, results) { #expect(result.samples(0) == picture.samples(0)) }
    }

    @Test("several threads may transfer at once")
    func concurrent() async throws {
        let session = PixelTransferSession(destination: attributes(.nv12, size: (30, 20)))
        let picture = gradient(.bgra, 64, 48)
        let expected = try session.transfer(picture).allSamples
        let results = try await withThrowingTaskGroup(of: PixelBuffer.self) { group in
            for _ in 0..<16 { group.addTask { try session.transfer(picture) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.allSatisfy { $0.allSamples == expected })
        #expect(session.statistics.converted == 17)
    }
}

@Suite("attachments of a transferred picture")
struct TransferredAttachmentTests {
    private func picture(_ attachments: PixelBufferAttachments) -> PixelBuffer {
        var picture = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: 704, height: 576))
        for plane in 0..<3 {
            picture.withMutablePlane(plane) { bytes, _ in
                for index in bytes.indices { bytes[index] = 128 }
            }
        }
        picture.attachments = attachments
        return picture.freeze()
    }

    @Test("attachments go with a picture of another format")
    func format() throws {
        let attachments = PixelBufferAttachments(
            colour: .bt709, cleanAperture: PixelRect(x: 8, y: 4, width: 640, height: 480),
            pixelAspectRatio: VideoDimensions(width: 12, height: 11))
        #expect(try transfer(picture(attachments), to: attributes(.bgra)).attachments == attachments)
    }

    @Test("the shape of a sample is adjusted to a new size")
    func shape() throws {
        let wide = picture(PixelBufferAttachments(pixelAspectRatio: VideoDimensions(width: 12, height: 11)))
        // 704 · 12/11 : 576 = 4 : 3, as is 768 : 576.
        let square = try transfer(wide, to: attributes(size: (768, 576)))
        #expect(square.attachments.pixelAspectRatio == VideoDimensions(width: 1, height: 1))
        let half = try transfer(wide, to: attributes(size: (352, 288)))
        #expect(half.attachments.pixelAspectRatio == VideoDimensions(width: 12, height: 11))
    }

    @Test("the shape of a sample stays one that an SPS can hold, whatever the sizes are")
    func largeShape() throws {
        let shape = PixelBufferAttachments(pixelAspectRatio: VideoDimensions(width: 4, height: 3))
            .scaled(from: VideoDimensions(width: 1918, height: 1078), to: VideoDimensions(width: 478, height: 268))
            .pixelAspectRatio
        #expect((1...65_535).contains(shape.width) && (1...65_535).contains(shape.height))
        let expected = 4.0 / 3 * (1918.0 / 478) / (1078.0 / 268)
        #expect(abs(Double(shape.width) / Double(shape.height) - expected) < 0.001)
    }

    @Test("the clean aperture is scaled with the picture")
    func aperture() throws {
        let cropped = picture(
            PixelBufferAttachments(cleanAperture: PixelRect(x: 8, y: 16, width: 640, height: 544)))
        let half = try transfer(cropped, to: attributes(size: (352, 288)))
        #expect(half.attachments.cleanAperture == PixelRect(x: 4, y: 8, width: 320, height: 272))
        #expect(try transfer(picture(.init()), to: attributes(size: (352, 288))).attachments.cleanAperture == nil)
    }

    @Test(
        "attachments that make no sense do no harm",
        arguments: [
            PixelRect(x: -5, y: 700, width: 10000, height: -3), PixelRect(x: .max, y: .min, width: .max, height: .min),
            PixelRect(x: 0, y: 0, width: 0, height: 0),
        ])
    func nonsense(aperture: PixelRect) throws {
        for shape in [(0, 0), (Int.max, 1), (-1, 5), (1, Int.max)] {
            let strange = picture(
                PixelBufferAttachments(
                    cleanAperture: aperture, pixelAspectRatio: VideoDimensions(width: shape.0, height: shape.1)))
            let result = try transfer(strange, to: attributes(size: (100, 50)))
            let scaled = try #require(result.attachments.cleanAperture)
            #expect(PixelRect(x: 0, y: 0, width: 100, height: 50).contains(scaled))
            #expect(!scaled.isEmpty)
        }
    }
}
