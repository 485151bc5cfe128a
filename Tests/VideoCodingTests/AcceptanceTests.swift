import H264
import H264Fixtures
import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

@Suite("Acceptance of a new format by a decoder")
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

    @Test("it does with the same parameter sets, another PPS, level, reorder depth or number of references")
    func accepted() throws {
        let session = try DecompressionSession(format: format()) { _ in }
        #expect(session.canAccept(format()) == .accept)
        #expect(session.canAccept(format { $0.parameterSets[1] = ByteBuffer(bytes: [0x68, 1]) }) == .accept)
        #expect(session.canAccept(format { $0.properties.profileLevel.levelIDC = 40 }) == .accept)
        #expect(session.canAccept(format { $0.properties.maximumReferenceFrames = 4 }) == .accept)
        #expect(session.canAccept(format { $0.properties.reorderDepth = 2 }) == .accept)
    }

    @Test("it does with a picture no larger than the one it was made for")
    func smallerPicture() throws {
        let session = try DecompressionSession(format: format()) { _ in }
        #expect(session.canAccept(format(320, 180)) == .accept)
        #expect(session.canAccept(format(640, 352)) == .accept)
        #expect(session.canAccept(format(630, 368)) == .accept)
    }

    @Test("a new session is made for a larger size or another profile")
    func recreated() throws {
        let session = try DecompressionSession(format: format()) { _ in }
        let others = [
            format(1280, 720), format(360, 640), format(656, 64), format(16, 384),
            format { $0.properties.profileLevel.profileIDC = 100 },
        ]
        for other in others {
            guard case .recreate(let reason) = session.canAccept(other) else {
                Issue.record("\(other.dimensions) was not recreated")
                continue
            }
            #expect(!reason.isEmpty)
        }
    }

    @Test("a format that no decoder supports is rejected, by the session and at its making")
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

    @Test("a format is rejected whose chroma alone has more than 8 bits", arguments: [8, 9, 10])
    func chromaDepth(depth: Int) throws {
        var sps = BitWriter()
        for byte in [110, 0, 30] { sps.bits(byte, 8) }
        // id, 4:2:0, the bit depths of luma and chroma.
        for value in [0, 1, 0, depth - 8] { sps.unsigned(value) }
        sps.bits(0, 2)  // no bypass of the transform, no scaling lists
        for value in [0, 2, 1] { sps.unsigned(value) }
        sps.bits(0, 1)  // no gaps in frame_num
        for value in [1, 1] { sps.unsigned(value) }
        sps.bits(0b11001, 5)  // frames only, direct_8x8_inference, no cropping, no VUI, stop bit
        let picture = try RawPictureStream().format.parameterSets[1]
        let format = try VideoFormatDescription(h264ParameterSets: [
            NALUnit(type: .sequenceParameterSet, referenceIDC: 3, rawPayload: sps.bytes).bytes, picture,
        ])
        #expect((DecodingLimits.default.reasonToReject(format) != nil) == (depth > 8))
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
    @Test("the memory that pictures may need is estimated in advance, and limited")
    func memory() throws {
        let big = format(1920, 1088) {
            $0.properties.maximumReferenceFrames = 4
            $0.properties.reorderDepth = 2
        }
        // Four referred to, two held back, one being decoded, one handed out.
        let needed = 8 * 1920 * 1088 * 3 / 2
        #expect(DecodingLimits.pictureMemory(for: big).bytes == needed)
        let enough = DecodingLimits(maximumPictureMemory: DataSize(bytes: needed))
        #expect(enough.reasonToReject(big) == nil)
        let less = DecodingLimits(maximumPictureMemory: DataSize(bytes: needed - 1))
        #expect(less.reasonToReject(big) != nil)
        #expect(throws: VideoCodingError.self) { try DecompressionSession(format: big, limits: less) { _ in } }
        let most = format(4096, 2304) {
            $0.properties.maximumReferenceFrames = 16
            $0.properties.reorderDepth = 16
        }
        #expect(DecodingLimits.default.reasonToReject(most) != nil)
    }
}
