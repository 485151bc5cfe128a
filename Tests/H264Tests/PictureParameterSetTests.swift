import Testing

@testable import H264

@Suite struct PictureParameterSetTests {
    @Test func `a PPS of x264 is read as another parser reads it`() throws {
        let set = try PictureParameterSet(parsing: Sample.baselinePPS)
        #expect((set.id, set.sequenceParameterSetID) == (0, 0))
        #expect(!set.usesCABAC)
        #expect(!set.hasBottomFieldPictureOrder)
        #expect((set.defaultReferenceCountL0, set.defaultReferenceCountL1) == (3, 1))
        #expect(!set.usesWeightedPrediction)
        #expect(set.weightedBipredictionMode == 0)
        #expect((set.initialQP, set.initialQS) == (23, 26))
        #expect((set.chromaQPOffset, set.secondChromaQPOffset) == (-2, -2))
        #expect(set.hasDeblockingControl)
        #expect(!set.usesConstrainedIntraPrediction)
        #expect(!set.hasRedundantPictureCount)
        #expect(!set.uses8x8Transform)
        #expect(set.scalingMatrix == nil)
    }

    @Test func `the High profile's extension is read`() throws {
        let set = try PictureParameterSet(parsing: Sample.highPPS)
        #expect(set.usesCABAC)
        #expect(set.usesWeightedPrediction)
        #expect(set.weightedBipredictionMode == 2)
        #expect(set.initialQP == 26)
        #expect(set.uses8x8Transform)
        #expect(set.secondChromaQPOffset == -2)
        #expect(try PictureParameterSet(parsing: Sample.interlacedPPS).hasBottomFieldPictureOrder)
    }

    @Test func `scaling lists are read`() throws {
        let weights: [UInt8] = [6, 12, 12, 19, 19, 19, 26, 26, 26, 26, 31, 31, 31, 35, 35, 39]
        let matrix = try #require(try PictureParameterSet(parsing: Sample.scalingListPPS).scalingMatrix)
        #expect(matrix.lists4x4[0] == .explicit(weights))
        #expect(matrix.lists8x8.count == 2)
        let defaults = try #require(try PictureParameterSet(parsing: Sample.defaultListsPPS).scalingMatrix)
        #expect(defaults.lists4x4 == [ScalingList](repeating: .fallback, count: 6))
        #expect(defaults.lists8x8 == [.fallback, .fallback])
    }

    @Test func `4:4:4 has six lists of 8x8 where that transform is used`() throws {
        var builder = PictureParameterSetBuilder()
        builder.trailer = { writer in
            writer.flag(true)
            writer.flag(true)
            for _ in 0..<12 { writer.flag(false) }
            writer.signed(5)
        }
        let set = try PictureParameterSet(parsing: builder.build(), chromaFormat: 3)
        #expect(set.scalingMatrix?.lists8x8.count == 6)
        #expect(set.secondChromaQPOffset == 5)
    }

    @Test func `fields behind the number of slice groups are read`() throws {
        var builder = PictureParameterSetBuilder()
        builder.id = 200
        builder.sequenceParameterSetID = 31
        builder.hasRedundantPictureCount = true
        let set = try PictureParameterSet(parsing: builder.build())
        #expect((set.id, set.sequenceParameterSetID) == (200, 31))
        #expect((set.defaultReferenceCountL0, set.defaultReferenceCountL1) == (4, 2))
        #expect((set.initialQP, set.initialQS, set.chromaQPOffset) == (20, 30, -2))
        #expect(set.hasRedundantPictureCount)
    }

    @Test(arguments: 2...8) func `slice groups are refused, whatever their map`(count: Int) {
        var builder = PictureParameterSetBuilder()
        builder.sliceGroupCount = count
        builder.sliceGroups = { writer in
            writer.unsigned(6)
            writer.unsigned(4_000_000_000)
        }
        #expect(
            throws: H264ParseError.valueOutOfRange(field: "num_slice_groups_minus1", value: Int64(count - 1))
        ) {
            try PictureParameterSet(parsing: builder.build())
        }
    }

    @Test func `a NAL unit of another type is refused`() {
        #expect(throws: H264ParseError.unexpectedType(.sequenceParameterSet, expected: .pictureParameterSet)) {
            try PictureParameterSet(parsing: Sample.baselineSPS)
        }
    }
}
