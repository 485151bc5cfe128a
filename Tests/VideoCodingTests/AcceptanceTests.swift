import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

@Suite("Whether a decoder goes on with a new format")
struct AcceptanceTests {
    private struct Description {
        var parameterSets = [ByteBuffer(bytes: [0x67]), ByteBuffer(bytes: [0x68])]
        var properties: VideoFormatDescription.Properties
    }

    private func format(
        _ width: Int = 640, _ height: Int = 360, _ change: (inout Description) -> Void = { _ in }
    ) -> VideoFormatDescription {
        var description = Description(
            properties: .init(
                profileLevel: .init(profileIDC: 66, constraintFlags: 0xC0, levelIDC: 31),
                dimensions: VideoDimensions(width: width, height: height),
                codedDimensions: VideoDimensions(width: (width + 15) / 16 * 16, height: (height + 15) / 16 * 16)))
        change(&description)
        return VideoFormatDescription(
            parameterSets: description.parameterSets, properties: description.properties)
    }

    @Test("it does with the same parameter sets, another PPS, level or number of references")
    func accepted() throws {
        let session = try DecompressionSession(format: format()) { _ in }
        #expect(session.canAccept(format()) == .accept)
        #expect(session.canAccept(format { $0.parameterSets[1] = ByteBuffer(bytes: [0x68, 1]) }) == .accept)
        #expect(session.canAccept(format { $0.properties.profileLevel.levelIDC = 40 }) == .accept)
        #expect(session.canAccept(format { $0.properties.maximumReferenceFrames = 4 }) == .accept)
    }

    @Test("a new session is made for another size, profile or reorder depth")
    func recreated() throws {
        let session = try DecompressionSession(format: format()) { _ in }
        let others = [
            format(1280, 720), format(360, 640), format(320, 180), format(640, 352),
            format { $0.properties.profileLevel.profileIDC = 100 }, format { $0.properties.reorderDepth = 2 },
        ]
        for other in others {
            guard case .recreate(let reason) = session.canAccept(other) else {
                Issue.record("\(other) was not recreated")
                continue
            }
            #expect(!reason.isEmpty)
        }
    }

    @Test("what no decoder takes is rejected, by the session and at its making")
    func rejected() throws {
        let session = try DecompressionSession(format: format()) { _ in }
        let others = [
            format(4112, 64), format(4096, 4096), format(0, 0),
            format { $0.properties.codedDimensions = VideoDimensions(width: .max, height: .max) },
            format { $0.properties.chromaFormat = 3 }, format { $0.properties.chromaFormat = 0 },
            format { $0.properties.bitDepth = 10 },
            format { $0.properties.maximumReferenceFrames = 17 }, format { $0.parameterSets = [] },
        ]
        for other in others {
            guard case .reject(let reason) = session.canAccept(other) else {
                Issue.record("\(other.dimensions) was not rejected")
                continue
            }
            #expect(throws: VideoCodingError.unsupportedFormat(reason: reason)) {
                try DecompressionSession(format: other) { _ in }
            }
        }
    }

    @Test("the limits are the caller's")
    func limits() throws {
        let limits = DecodingLimits(maximumDimension: 1280, maximumArea: 1280 * 720, maximumReferenceFrames: 4)
        let session = try DecompressionSession(format: format(), limits: limits) { _ in }
        #expect(session.canAccept(format(1280, 720)) != .accept)
        guard case .recreate = session.canAccept(format(1280, 720)) else {
            Issue.record("a picture within the limits was rejected")
            return
        }
        guard case .reject = session.canAccept(format(1280, 736)) else {
            Issue.record("a picture beyond the limits was not rejected")
            return
        }
    }
}
