import NIOCore
import Testing

@testable import H264

/// Writes slices whose headers refer to the builders' parameter sets.
private struct SliceBuilder {
    var sequenceSet = SequenceParameterSetBuilder()
    var pictureSet = PictureParameterSetBuilder()
    var isIDR = false
    var referenceIDC: UInt8 = 2
    var firstMacroblock = 0
    var sliceType = 5
    var frameNumber = 0
    var field: (isField: Bool, isBottom: Bool) = (false, false)
    var idrPictureID = 0
    var orderLSB = 0
    var bottomDelta = 0
    var deltas = [0, 0]
    var redundantCount = 0
    var partition: NALUnitType?

    func build() -> NALUnit {
        var writer = BitWriter()
        writer.unsigned(firstMacroblock)
        writer.unsigned(sliceType)
        writer.unsigned(pictureSet.id)
        if sequenceSet.separatePlanes { writer.bits(1, 2) }
        writer.bits(frameNumber, sequenceSet.log2MaximumFrameNumber)
        if !sequenceSet.isFrameOnly {
            writer.flag(field.isField)
            if field.isField { writer.flag(field.isBottom) }
        }
        if isIDR { writer.unsigned(idrPictureID) }
        switch sequenceSet.pictureOrderCount {
        case .explicit(let bits):
            writer.bits(orderLSB, bits)
            if pictureSet.hasBottomFieldPictureOrder && !field.isField { writer.signed(bottomDelta) }
        case .cyclic(let isZero, _, _, _):
            if !isZero {
                writer.signed(deltas[0])
                if pictureSet.hasBottomFieldPictureOrder && !field.isField { writer.signed(deltas[1]) }
            }
        case .decodingOrder: break
        }
        if pictureSet.hasRedundantPictureCount { writer.unsigned(redundantCount) }
        writer.bits(0b1011, 4)
        writer.stop()
        return NALUnit(
            type: partition ?? (isIDR ? .codedSliceIDR : .codedSliceNonIDR), referenceIDC: referenceIDC,
            rawPayload: writer.bytes)
    }

    func with(_ change: (inout SliceBuilder) -> Void) -> NALUnit {
        var copy = self
        change(&copy)
        return copy.build()
    }

    var parameterSets: [NALUnit] { [sequenceSet.build(), pictureSet.build()] }
}

private func assemble(_ units: [NALUnit]) -> [[NALUnit]] {
    var assembler = AccessUnitAssembler()
    var result = units.compactMap { assembler.append($0) }
    if let last = assembler.finish() { result.append(last) }
    return result
}

private func plain(_ type: NALUnitType) -> NALUnit { NALUnit(header: type.rawValue, payload: [0x12, 0x80]) }

@Suite struct SliceHeaderTests {
    @Test func `the fields up to the redundant picture count are read`() throws {
        var builder = SliceBuilder()
        builder.pictureSet.hasBottomFieldPictureOrder = true
        builder.pictureSet.hasRedundantPictureCount = true
        builder.sequenceSet.log2MaximumFrameNumber = 9
        builder.isIDR = true
        builder.firstMacroblock = 77
        builder.sliceType = 7
        builder.frameNumber = 300
        builder.idrPictureID = 12
        builder.orderLSB = 11
        builder.bottomDelta = -3
        builder.redundantCount = 2
        var store = ParameterSetStore()
        for unit in builder.parameterSets { try store.insert(unit) }
        let header = try SliceHeader(parsing: builder.build(), parameterSets: store)
        #expect(header.firstMacroblock == 77)
        #expect(header.kind == .intra)
        #expect(header.pictureParameterSetID == 0)
        #expect(header.frameNumber == 300)
        #expect(!header.isField)
        #expect(header.idrPictureID == 12)
        #expect(header.pictureOrderCountLSB == 11)
        #expect(header.bottomPictureOrderCountDelta == -3)
        #expect(header.isRedundant)
        #expect(header.referenceIDC == 2)
    }

    @Test func `a slice without its parameter sets is an error`() throws {
        var store = ParameterSetStore()
        let builder = SliceBuilder()
        #expect(throws: H264ParseError.missingParameterSet(.pictureParameterSet)) {
            try SliceHeader(parsing: builder.build(), parameterSets: store)
        }
        try store.insert(builder.pictureSet.build())
        #expect(throws: H264ParseError.missingParameterSet(.sequenceParameterSet)) {
            try SliceHeader(parsing: builder.build(), parameterSets: store)
        }
    }
}

@Suite struct AccessUnitAssemblerTests {
    @Test func `slices of one picture stay together`() {
        let builder = SliceBuilder()
        let second = builder.with { $0.firstMacroblock = 40 }
        let units = builder.parameterSets + [builder.build(), second]
        #expect(assemble(units) == [units])
    }

    @Test func `slices in arbitrary order stay together`() {
        let builder = SliceBuilder()
        let units = builder.parameterSets + [builder.with { $0.firstMacroblock = 40 }, builder.build()]
        #expect(assemble(units) == [units])
    }

    /// The ways in which a slice differs from one of the picture before (7.4.1.2.4).
    private typealias Change = @Sendable (inout SliceBuilder) -> Void
    private static let differences: [(String, Change, Change)] = [
        ("frame_num", { _ in }, { $0.frameNumber = 1 }),
        ("pic_order_cnt_lsb", { _ in }, { $0.orderLSB = 2 }),
        ("nal_ref_idc", { _ in }, { $0.referenceIDC = 0 }),
        ("idr_flag", { _ in }, { $0.isIDR = true }),
        ("idr_pic_id", { $0.isIDR = true }, { $0.idrPictureID = 1 }),
        (
            "delta_pic_order_cnt_bottom", { $0.pictureSet.hasBottomFieldPictureOrder = true },
            { $0.bottomDelta = 1 }
        ),
        ("field_pic_flag", { $0.sequenceSet.isFrameOnly = false }, { $0.field = (true, false) }),
        (
            "bottom_field_flag",
            {
                $0.sequenceSet.isFrameOnly = false
                $0.field = (true, false)
            }, { $0.field = (true, true) }
        ),
        (
            "delta_pic_order_cnt[0]",
            {
                $0.sequenceSet.pictureOrderCount = .cyclic(
                    deltaIsAlwaysZero: false, nonReference: 0, topToBottom: 0, offsets: [])
            }, { $0.deltas[0] = 1 }
        ),
        (
            "delta_pic_order_cnt[1]",
            {
                $0.pictureSet.hasBottomFieldPictureOrder = true
                $0.sequenceSet.pictureOrderCount = .cyclic(
                    deltaIsAlwaysZero: false, nonReference: 0, topToBottom: 0, offsets: [])
            }, { $0.deltas[1] = 1 }
        ),
    ]

    @Test(arguments: differences.map(\.0)) func `another picture begins where a field differs`(field: String) throws {
        let (_, prepare, change) = try #require(Self.differences.first { $0.0 == field })
        var builder = SliceBuilder()
        prepare(&builder)
        let first = builder.parameterSets + [builder.build()]
        // Not the first macroblock, so that it is the field that tells.
        let second = builder.with {
            $0.firstMacroblock = 9
            change(&$0)
        }
        #expect(assemble(first + [second]) == [first, [second]])
        let same = builder.with { $0.firstMacroblock = 9 }
        #expect(assemble(first + [same]) == [first + [same]])
    }

    @Test func `another picture begins where the picture parameter set differs`() {
        var builder = SliceBuilder()
        let first = builder.parameterSets
        builder.pictureSet.id = 3
        let sets = first + [builder.pictureSet.build()]
        let slice = SliceBuilder().build()
        let other = builder.with { $0.firstMacroblock = 9 }
        #expect(assemble(sets + [slice, other]) == [sets + [slice], [other]])
    }

    @Test func `two importances above zero are of one picture`() {
        let builder = SliceBuilder()
        let units = builder.parameterSets + [builder.build(), builder.with { $0.referenceIDC = 1 }]
        #expect(assemble(units) == [units])
    }

    @Test func `slices of a redundant picture belong to the primary one`() {
        var builder = SliceBuilder()
        builder.pictureSet.hasRedundantPictureCount = true
        let redundant = builder.with {
            $0.redundantCount = 1
            $0.frameNumber = 3
        }
        let units = builder.parameterSets + [builder.build(), redundant]
        #expect(assemble(units) == [units])
    }

    @Test func `partitions B and C belong to their partition A`() {
        let builder = SliceBuilder()
        let first = [
            builder.with { $0.partition = .dataPartitionA }, plain(.dataPartitionB), plain(.dataPartitionC),
        ]
        let second = [
            builder.with {
                $0.partition = .dataPartitionA
                $0.frameNumber = 1
            }, plain(.dataPartitionB),
        ]
        let sets = builder.parameterSets
        #expect(assemble(sets + first + second) == [sets + first, second])
    }

    @Test(
        arguments: [
            .sei, .sequenceParameterSet, .pictureParameterSet, .accessUnitDelimiter, .subsetSequenceParameterSet,
            .depthParameterSet, .reserved17, .reserved18,
        ] as [NALUnitType])
    func `what may only stand before a picture begins an access unit behind one`(type: NALUnitType) {
        let builder = SliceBuilder()
        let first = builder.parameterSets + [builder.build()]
        let second = [plain(type), builder.with { $0.frameNumber = 1 }]
        #expect(assemble(first + second) == [first, second])
    }

    @Test(
        arguments: [
            .unspecified, .fillerData, .sequenceParameterSetExtension, .auxiliaryCodedSlice, .codedSliceExtension,
            .codedSliceDepthExtension, .reserved22, .reserved23, .aggregationSTAPA, .unspecified30, .unspecified31,
        ] as [NALUnitType])
    func `what may stand behind a picture stays with it`(type: NALUnitType) {
        let builder = SliceBuilder()
        let first = builder.parameterSets + [builder.build(), plain(type)]
        let second = builder.with { $0.frameNumber = 1 }
        #expect(assemble(first + [second]) == [first, [second]])
    }

    @Test func `a prefix goes with the slice behind it`() {
        let builder = SliceBuilder()
        let prefix = plain(.prefix)
        let first =
            builder.parameterSets + [prefix, builder.build(), prefix, builder.with { $0.firstMacroblock = 9 }]
        let second = [prefix, builder.with { $0.frameNumber = 1 }]
        #expect(assemble(first + second) == [first, second])
        #expect(assemble(first + [prefix]) == [first + [prefix]])
    }

    @Test func `the views of a picture stay together, whose base has a prefix`() {
        let builder = SliceBuilder()
        let other = plain(.codedSliceExtension)
        let first =
            builder.parameterSets + [plain(.subsetSequenceParameterSet), plain(.prefix), builder.build(), other, other]
        let second = [plain(.prefix), builder.with { $0.frameNumber = 1 }, other]
        #expect(assemble(first + second) == [first, second])
    }

    @Test func `the two fields of a frame are two access units`() {
        var builder = SliceBuilder()
        builder.sequenceSet.isFrameOnly = false
        builder.field = (true, false)
        builder.isIDR = true
        let first = builder.parameterSets + [builder.build(), builder.with { $0.firstMacroblock = 9 }]
        // The second field of an IDR picture is a P or an I field.
        builder.isIDR = false
        builder.field = (true, true)
        let second = [builder.build(), builder.with { $0.firstMacroblock = 9 }]
        #expect(assemble(first + second) == [first, second])
    }

    @Test func `pictures without an order of their own are told apart by their number`() {
        var builder = SliceBuilder()
        builder.sequenceSet.pictureOrderCount = .decodingOrder
        let first = builder.parameterSets + [builder.build(), builder.with { $0.firstMacroblock = 9 }]
        let second = [builder.with { $0.frameNumber = 1 }]
        #expect(assemble(first + second) == [first, second])
    }

    @Test func `a byte stream in pieces gives the access units of the whole`() {
        let builder = SliceBuilder()
        let pictures = (0..<12).map { number in
            (number % 4 == 0 ? [plain(.accessUnitDelimiter)] + builder.parameterSets : []) + [
                builder.with { $0.frameNumber = number },
                builder.with {
                    $0.frameNumber = number
                    $0.firstMacroblock = 9
                },
            ]
        }
        let stream = pictures.flatMap { AnnexB.encode($0, startCodes: .shortest).array }
        for size in [1, 2, 3, 5, 7, 64, stream.count] {
            var (reader, assembler) = (AnnexBReader(), AccessUnitAssembler())
            var result: [[NALUnit]] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                reader.append(ByteBuffer(bytes: stream[start..<min(start + size, stream.count)]))
                while let unit = reader.nextNALUnit() {
                    if let picture = assembler.append(unit) { result.append(picture) }
                }
            }
            while let unit = reader.finish() {
                if let picture = assembler.append(unit) { result.append(picture) }
            }
            if let picture = assembler.finish() { result.append(picture) }
            #expect(result == pictures)
        }
    }

    @Test func `an access unit ends at an end of sequence`() {
        var builder = SliceBuilder()
        builder.isIDR = true
        let first = builder.parameterSets + [builder.build(), plain(.endOfSequence), plain(.endOfStream)]
        let second = builder.build()
        #expect(assemble(first + [second]) == [first, [second]])
    }

    @Test func `parameter sets between pictures begin an access unit and take effect`() {
        let builder = SliceBuilder()
        var changed = SliceBuilder()
        changed.sequenceSet.log2MaximumFrameNumber = 12
        changed.frameNumber = 5
        let first = builder.parameterSets + [builder.build()]
        let second = changed.parameterSets + [changed.build(), changed.with { $0.firstMacroblock = 9 }]
        let third = [
            changed.with {
                $0.firstMacroblock = 9
                $0.frameNumber = 6
            }
        ]
        #expect(assemble(first + second + third) == [first, second, third])
    }

    @Test func `without parameter sets a first macroblock of zero begins a picture`() {
        let builder = SliceBuilder()
        let slices = [builder.build(), builder.with { $0.firstMacroblock = 9 }, builder.build()]
        #expect(assemble(slices) == [Array(slices[0...1]), [slices[2]]])
    }

    @Test func `nothing comes of nothing`() {
        #expect(assemble([]).isEmpty)
    }

    @Test func `a unit is completed by the first of the next`() {
        var assembler = AccessUnitAssembler()
        let builder = SliceBuilder()
        let slice = builder.build()
        for unit in builder.parameterSets + [slice] { #expect(assembler.append(unit) == nil) }
        #expect(assembler.append(builder.with { $0.frameNumber = 1 }) == builder.parameterSets + [slice])
    }
}
