import MediaCore
import Testing

@testable import H264

@Suite struct SequenceParameterSetTests {
    @Test func `a Baseline SPS of x264 is read as another parser reads it`() throws {
        let set = try SequenceParameterSet(parsing: Sample.baselineSPS)
        #expect(set.profileLevel == .init(profileIDC: 66, constraintFlags: 0xC0, levelIDC: 30))
        #expect(set.id == 0)
        #expect(set.log2MaximumFrameNumber == 4)
        #expect(set.pictureOrderCount == .decodingOrder)
        #expect(set.maximumReferenceFrames == 3)
        #expect(!set.allowsFrameNumberGaps)
        #expect(set.isFrameOnly)
        #expect(set.codedDimensions == VideoDimensions(width: 640, height: 368))
        #expect(set.dimensions == VideoDimensions(width: 640, height: 360))
        #expect(set.usability?.timing == .init(unitsInTick: 1, timeScale: 60, isFixedFrameRate: false))
        #expect(set.usability?.timing?.frameRate == 30)
        #expect(set.usability?.bitstreamRestriction?.maximumDecodedFrameBuffering == 3)
        #expect(set.reorderDepth == 0)
    }

    @Test func `a High SPS with buffer model and colour is read as another parser reads it`() throws {
        let set = try SequenceParameterSet(parsing: Sample.highSPS)
        #expect(set.profileLevel == .init(profileIDC: 100, constraintFlags: 0, levelIDC: 40))
        #expect(set.chromaFormat == 1)
        #expect(set.pictureOrderCount == .explicit(log2MaximumLSB: 6))
        #expect(set.maximumReferenceFrames == 4)
        #expect(set.dimensions == VideoDimensions(width: 1920, height: 1080))
        #expect(set.codedDimensions == VideoDimensions(width: 1920, height: 1088))
        let usability = try #require(set.usability)
        #expect(usability.sampleAspectRatio == VideoDimensions(width: 1, height: 1))
        #expect(usability.videoSignal?.videoFormat == 5)
        #expect(usability.videoSignal?.colour == .bt709)
        let buffer = try #require(usability.nalParameters)
        #expect(buffer.bitRateScale == 2)
        #expect(buffer.bufferSizeScale == 3)
        #expect(
            buffer.schedules == [.init(bitRateValue: 15625, bufferSizeValue: 15625, isConstantBitRate: true)])
        #expect(buffer.initialRemovalDelayLength == 18)
        #expect(buffer.removalDelayLength == 13)
        #expect(buffer.outputDelayLength == 7)
        #expect(buffer.timeOffsetLength == 0)
        #expect(usability.vclParameters == nil)
        #expect(usability.isLowDelay == false)
        #expect(!usability.hasPictureStructure)
        #expect(
            usability.bitstreamRestriction
                == .init(
                    motionVectorsOverPictureBoundaries: true, maximumBytesPerPictureDenominator: 0,
                    maximumBitsPerMacroblockDenominator: 0, log2MaximumHorizontalMotionVectorLength: 11,
                    log2MaximumVerticalMotionVectorLength: 11, maximumReorderFrames: 2,
                    maximumDecodedFrameBuffering: 4))
        #expect(set.reorderDepth == 2)
    }

    @Test func `field coding doubles the height of a map unit`() throws {
        let set = try SequenceParameterSet(parsing: Sample.interlacedSPS)
        #expect(!set.isFrameOnly)
        #expect(set.isMacroblockAdaptive)
        #expect(set.dimensions == VideoDimensions(width: 720, height: 576))
        #expect(set.usability?.hasPictureStructure == true)
    }

    @Test func `chroma formats and bit depths are read`() throws {
        let high422 = try SequenceParameterSet(parsing: Sample.high422SPS)
        #expect((high422.chromaFormat, high422.lumaBitDepth, high422.chromaBitDepth) == (2, 10, 10))
        #expect(high422.dimensions == VideoDimensions(width: 320, height: 240))
        let high444 = try SequenceParameterSet(parsing: Sample.high444SPS)
        #expect((high444.chromaFormat, high444.lumaBitDepth) == (3, 8))
        #expect(high444.dimensions == VideoDimensions(width: 322, height: 242))
        let monochrome = try SequenceParameterSet(parsing: Sample.monochromeSPS)
        #expect(monochrome.chromaFormat == 0)
        #expect(monochrome.dimensions == VideoDimensions(width: 128, height: 96))
        #expect(monochrome.usability?.videoSignal?.colour.isFullRange == true)
    }

    @Test(arguments: [
        (1, false, true, 316, 236), (1, false, false, 316, 472), (2, false, true, 316, 238), (3, false, true, 318, 238),
        (3, true, true, 318, 238), (0, false, true, 318, 238), (0, false, false, 318, 476),
    ])
    func `crop units depend on chroma format and field coding`(
        chromaFormat: Int, separatePlanes: Bool, isFrameOnly: Bool, width: Int, height: Int
    ) throws {
        var builder = SequenceParameterSetBuilder()
        builder.profileIDC = 244
        builder.chromaFormat = chromaFormat
        builder.separatePlanes = separatePlanes
        builder.isFrameOnly = isFrameOnly
        builder.cropping = [1, 1, 1, 1]
        let set = try SequenceParameterSet(parsing: builder.build())
        #expect(set.dimensions == VideoDimensions(width: width, height: height))
        #expect(set.chromaArrayType == (separatePlanes ? 0 : UInt8(chromaFormat)))
    }

    @Test func `scaling lists may be sent, absent or the default`() throws {
        var builder = SequenceParameterSetBuilder()
        builder.profileIDC = 100
        builder.scalingLists = { writer in
            // A flat list of 16: 8 + 8, then no change.
            writer.flag(true)
            writer.signed(8)
            for _ in 1..<16 { writer.signed(0) }
            // The default.
            writer.flag(true)
            writer.signed(-8)
            // 9, then the last value to the end.
            writer.flag(true)
            writer.signed(1)
            writer.signed(-9)
            for _ in 3..<8 { writer.flag(false) }
        }
        let matrix = try #require(try SequenceParameterSet(parsing: builder.build()).scalingMatrix)
        #expect(matrix.lists4x4[0] == .explicit([UInt8](repeating: 16, count: 16)))
        #expect(matrix.lists4x4[1] == .standard)
        #expect(matrix.lists4x4[2] == .explicit([UInt8](repeating: 9, count: 16)))
        #expect(matrix.lists4x4[3...] == [.fallback, .fallback, .fallback])
        #expect(matrix.lists8x8 == [.fallback, .fallback])
    }

    @Test func `4:4:4 has six lists of 8x8`() throws {
        var builder = SequenceParameterSetBuilder()
        builder.profileIDC = 244
        builder.chromaFormat = 3
        builder.scalingLists = { writer in for _ in 0..<12 { writer.flag(false) } }
        let set = try SequenceParameterSet(parsing: builder.build())
        #expect(set.scalingMatrix?.lists8x8.count == 6)
        #expect(set.dimensions == VideoDimensions(width: 320, height: 240))
    }

    @Test func `cyclic picture order counts are read`() throws {
        var builder = SequenceParameterSetBuilder()
        builder.pictureOrderCount = .cyclic(
            deltaIsAlwaysZero: true, nonReference: -1, topToBottom: 3, offsets: [2, -4, 6])
        #expect(
            try SequenceParameterSet(parsing: builder.build()).pictureOrderCount
                == .cyclic(
                    deltaIsAlwaysZero: true, offsetForNonReferencePicture: -1, offsetForTopToBottomField: 3,
                    offsetsForReferenceFrames: [2, -4, 6]))
    }

    @Test func `every part of the VUI is read`() throws {
        var builder = SequenceParameterSetBuilder()
        builder.usability = { writer in
            writer.flag(true)
            writer.bits(255, 8)
            writer.bits(64, 16)
            writer.bits(45, 16)
            writer.flag(true)
            writer.flag(true)
            writer.flag(true)
            writer.bits(2, 3)
            writer.flag(true)
            writer.flag(false)
            writer.flag(true)
            writer.unsigned(1)
            writer.unsigned(5)
            writer.flag(true)
            writer.bits(1001, 32)
            writer.bits(60000, 32)
            writer.flag(true)
            writer.flag(false)
            writer.flag(true)
            writer.unsigned(1)
            writer.bits(3, 4)
            writer.bits(4, 4)
            for value in [10, 20, 30, 40] {
                writer.unsigned(value)
                if value % 20 == 0 { writer.flag(value == 40) }
            }
            for length in [23, 15, 5, 24] { writer.bits(length, 5) }
            writer.flag(true)
            writer.flag(true)
            writer.flag(false)
        }
        let usability = try #require(try SequenceParameterSet(parsing: builder.build()).usability)
        #expect(usability.sampleAspectRatio == VideoDimensions(width: 64, height: 45))
        #expect(usability.isOverscanAppropriate == true)
        #expect(usability.videoSignal == .init(videoFormat: 2, colour: ColourDescription(isFullRange: true)))
        #expect(usability.chromaLocation == .init(topField: 1, bottomField: 5))
        #expect(usability.timing == .init(unitsInTick: 1001, timeScale: 60000, isFixedFrameRate: true))
        #expect(usability.nalParameters == nil)
        #expect(
            usability.vclParameters?.schedules == [
                .init(bitRateValue: 11, bufferSizeValue: 21, isConstantBitRate: false),
                .init(bitRateValue: 31, bufferSizeValue: 41, isConstantBitRate: true),
            ])
        #expect(usability.vclParameters?.timeOffsetLength == 24)
        #expect(usability.isLowDelay == true)
        #expect(usability.hasPictureStructure)
        #expect(usability.bitstreamRestriction == nil)
    }

    @Test(arguments: [(1, 1, 1), (2, 12, 11), (13, 160, 99), (14, 4, 3), (16, 2, 1)])
    func `sample aspect ratios come from table E-1`(index: Int, width: Int, height: Int) throws {
        #expect(try aspectRatio(index: index) == VideoDimensions(width: width, height: height))
    }

    @Test(arguments: [0, 17, 254]) func `other aspect ratios are unknown`(index: Int) throws {
        #expect(try aspectRatio(index: index) == nil)
    }

    private func aspectRatio(index: Int) throws -> VideoDimensions? {
        var builder = SequenceParameterSetBuilder()
        builder.usability = { writer in
            writer.flag(true)
            writer.bits(index, 8)
            for _ in 0..<8 { writer.flag(false) }
        }
        return try SequenceParameterSet(parsing: builder.build()).usability?.sampleAspectRatio
    }

    @Test func `a NAL unit of another type is refused`() {
        #expect(throws: H264ParseError.unexpectedType(.pictureParameterSet, expected: .sequenceParameterSet)) {
            try SequenceParameterSet(parsing: Sample.baselinePPS)
        }
    }

    @Test func `an SPS cut short anywhere is refused`() {
        let bytes = Sample.highSPS.array
        for count in 1..<bytes.count - 1 {
            #expect(throws: H264ParseError.self) {
                try SequenceParameterSet(parsing: NALUnit(header: bytes[0], payload: Array(bytes[1..<count])))
            }
        }
    }

    @Test(
        arguments: [
            (513, 15, nil), (15, 513, nil), (20, 15, [80, 80, 0, 0]), (20, 15, [0, 0, 60, 60]),
            (20, 15, [161, 0, 0, 0]),
            (1 << 31, 1 << 31, nil), (20, 15, [4_294_967_000, 4_294_967_000, 0, 0]),
        ] as [(Int, Int, [Int]?)])
    func `a picture that is too large or cropped away is refused`(width: Int, height: Int, cropping: [Int]?) {
        var builder = SequenceParameterSetBuilder()
        builder.widthInMacroblocks = width
        builder.heightInMapUnits = height
        builder.cropping = cropping
        #expect(throws: H264ParseError.unsupportedDimensions(width: Int64(width) * 16, height: Int64(height) * 16)) {
            try SequenceParameterSet(parsing: builder.build())
        }
    }

    @Test func `the largest picture is taken`() throws {
        var builder = SequenceParameterSetBuilder()
        builder.widthInMacroblocks = 512
        builder.heightInMapUnits = 512
        let set = try SequenceParameterSet(parsing: builder.build())
        #expect(set.dimensions == VideoDimensions(width: 8192, height: 8192))
    }

    @Test func `values that the standard forbids are refused by name`() {
        var builder = SequenceParameterSetBuilder()
        builder.id = 32
        #expect(throws: H264ParseError.valueOutOfRange(field: "seq_parameter_set_id", value: 32)) {
            try SequenceParameterSet(parsing: builder.build())
        }
        builder.id = 0
        builder.referenceFrames = 17
        #expect(throws: H264ParseError.valueOutOfRange(field: "max_num_ref_frames", value: 17)) {
            try SequenceParameterSet(parsing: builder.build())
        }
    }
}

@Suite struct ReorderDepthTests {
    private func reorderDepth(_ change: (inout SequenceParameterSetBuilder) -> Void) throws -> Int {
        var builder = SequenceParameterSetBuilder()
        change(&builder)
        return try SequenceParameterSet(parsing: builder.build()).reorderDepth
    }

    @Test func `without a restriction it is what the level's picture buffer holds`() throws {
        // Level 3.1 buffers 18000 macroblocks; 320x240 has 300, 1280x720 has 3600.
        #expect(try reorderDepth { _ in } == 16)
        #expect(
            try reorderDepth {
                $0.widthInMacroblocks = 80
                $0.heightInMapUnits = 45
            } == 5)
    }

    @Test func `Baseline has no B slices to reorder`() throws {
        #expect(try reorderDepth { $0.profileIDC = 66 } == 0)
        #expect(
            try reorderDepth {
                $0.profileIDC = 66
                $0.constraintFlags = 0x40
            } == 0)
    }

    @Test func `picture order count type 2 is output in decoding order`() throws {
        #expect(try reorderDepth { $0.pictureOrderCount = .decodingOrder } == 0)
    }

    @Test func `intra-only profiles reorder nothing`() throws {
        #expect(
            try reorderDepth {
                $0.profileIDC = 100
                $0.constraintFlags = 0x10
            } == 0)
        #expect(try reorderDepth { $0.profileIDC = 100 } == 16)
    }

    @Test func `a bitstream restriction says it outright`() throws {
        #expect(
            try reorderDepth {
                $0.usability = { writer in
                    for _ in 0..<8 { writer.flag(false) }
                    writer.flag(true)
                    writer.flag(true)
                    for value in [0, 0, 10, 10, 3, 4] { writer.unsigned(value) }
                }
            } == 3)
    }

    @Test func `level 1b buffers as level 1`() throws {
        // 176x144 has 99 macroblocks; level 1 buffers 396 and level 1.1 900.
        func depth(constraintFlags: UInt8) throws -> Int {
            try reorderDepth {
                $0.levelIDC = 11
                $0.constraintFlags = constraintFlags
                $0.widthInMacroblocks = 11
                $0.heightInMapUnits = 9
            }
        }
        #expect(try depth(constraintFlags: 0x10) == 4)
        #expect(try depth(constraintFlags: 0) == 9)
    }

    @Test func `a picture too large for its level keeps its reference frames`() throws {
        #expect(
            try reorderDepth {
                $0.levelIDC = 10
                $0.referenceFrames = 3
                $0.widthInMacroblocks = 120
                $0.heightInMapUnits = 68
            } == 3)
    }
}
