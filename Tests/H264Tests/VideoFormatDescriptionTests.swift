import H264
import MediaCore
import NIOCore
import Testing

@Suite struct VideoFormatDescriptionTests {
    @Test func `parameter sets describe the stream`() throws {
        let format = try VideoFormatDescription(h264ParameterSets: [Sample.highSPS.bytes, Sample.highPPS.bytes])
        #expect(format.dimensions == VideoDimensions(width: 1920, height: 1080))
        #expect(format.codedDimensions == VideoDimensions(width: 1920, height: 1088))
        #expect(format.profileLevel == .init(profileIDC: 100, constraintFlags: 0, levelIDC: 40))
        #expect(format.reorderDepth == 2)
        #expect(format.maximumReferenceFrames == 4)
        #expect((format.chromaFormat, format.bitDepth) == (1, 8))
        #expect(format.pixelAspectRatio == VideoDimensions(width: 1, height: 1))
    }

    @Test func `an SPS stands before a PPS, and each only once`() throws {
        let units = [Sample.highPPS, Sample.highSPS, Sample.highPPS, Sample.highSPS].map(\.bytes)
        let format = try VideoFormatDescription(h264ParameterSets: units)
        #expect(format.parameterSets == [Sample.highSPS.bytes, Sample.highPPS.bytes])
    }

    @Test func `a later set replaces an earlier one with the same id`() throws {
        var builder = SequenceParameterSetBuilder()
        let old = builder.build()
        builder.widthInMacroblocks = 40
        let new = builder.build()
        let set = PictureParameterSetBuilder().build()
        let format = try VideoFormatDescription(h264ParameterSets: [old.bytes, set.bytes, new.bytes])
        #expect(format.dimensions.width == 640)
        #expect(format.parameterSets == [new.bytes, set.bytes])
    }

    @Test func `a PPS without its SPS is left out`() throws {
        var builder = PictureParameterSetBuilder()
        builder.id = 1
        builder.sequenceParameterSetID = 7
        let stray = builder.build()
        let sets = [Sample.baselineSPS, stray, Sample.baselinePPS].map(\.bytes)
        let format = try VideoFormatDescription(h264ParameterSets: sets)
        #expect(format.parameterSets == [Sample.baselineSPS.bytes, Sample.baselinePPS.bytes])
        #expect(throws: H264ParseError.missingParameterSet(.pictureParameterSet)) {
            try VideoFormatDescription(h264ParameterSets: [Sample.baselineSPS.bytes, stray.bytes])
        }
    }

    @Test func `both kinds of parameter set are needed`() {
        #expect(throws: H264ParseError.missingParameterSet(.sequenceParameterSet)) {
            try VideoFormatDescription(h264ParameterSets: [Sample.baselinePPS.bytes])
        }
        #expect(throws: H264ParseError.missingParameterSet(.pictureParameterSet)) {
            try VideoFormatDescription(h264ParameterSets: [Sample.baselineSPS.bytes])
        }
        #expect(throws: H264ParseError.missingParameterSet(.sequenceParameterSet)) {
            try VideoFormatDescription(h264ParameterSets: [ByteBuffer()])
        }
    }

    @Test func `formats are equal by what their parameter sets say`() throws {
        var other = PictureParameterSetBuilder()
        other.id = 3
        let sets = [SequenceParameterSetBuilder().build(), PictureParameterSetBuilder().build(), other.build()].map(
            \.bytes)
        let format = try VideoFormatDescription(h264ParameterSets: sets)
        // In another order, and with zero bytes behind a set, as some senders pad them.
        var padded = sets[1]
        padded.writeBytes([0, 0])
        let same = try VideoFormatDescription(h264ParameterSets: [sets[2], padded, sets[0]])
        #expect(same.parameterSets != format.parameterSets)
        #expect(same == format)
        #expect(same.hashValue == format.hashValue)
        var changed = PictureParameterSetBuilder()
        changed.usesCABAC.toggle()
        let different = try VideoFormatDescription(h264ParameterSets: [sets[0], changed.build().bytes, sets[2]])
        #expect(different != format)
    }

    @Test func `colour, frame rate and clean aperture come from the SPS`() throws {
        let format = try VideoFormatDescription(h264ParameterSets: [Sample.highSPS.bytes, Sample.highPPS.bytes])
        #expect(format.colour == .bt709)
        #expect(format.cleanAperture == PixelRect(x: 0, y: 0, width: 1920, height: 1080))
        #expect(format.frameRate == format.sequenceParameterSets.first?.usability?.timing?.frameRate)
        #expect(format.sequenceParameterSets.count == 1)
        #expect(format.pictureParameterSets.count == 1)
    }

    @Test func `a slice among parameter sets is an error`() {
        let slice = NALUnit(header: 0x65, payload: [1])
        #expect(throws: H264ParseError.unexpectedType(.codedSliceIDR, expected: .sequenceParameterSet)) {
            try VideoFormatDescription(h264ParameterSets: [slice.bytes])
        }
    }

    @Test func `every error says what to do`() {
        let errors: [H264ParseError] = [
            .truncated(field: "x"), .valueOutOfRange(field: "x", value: 1), .unitTooLong(count: 1, maximum: 0),
            .unexpectedType(.sei, expected: .sequenceParameterSet), .missingParameterSet(.sequenceParameterSet),
            .missingParameterSet(.pictureParameterSet), .unsupportedDimensions(width: 1, height: 1),
            .truncatedUnit(offset: 0), .unsupportedLengthSize(3), .parameterSetTooLong(count: 1, maximum: 0),
            .tooManyParameterSets(count: 1, maximum: 0),
        ]
        #expect(Set(errors.map(\.description)).count == errors.count)
    }
}

@Suite struct ParameterSetStoreTests {
    @Test func `the format of a picture comes from the sets that it uses`() throws {
        var store = ParameterSetStore()
        #expect(try store.insert(Sample.baselineSPS))
        #expect(store.formatDescription(pictureParameterSetID: 0) == nil)
        #expect(try store.insert(Sample.baselinePPS))
        let format = try #require(store.formatDescription(pictureParameterSetID: 0))
        #expect(format.dimensions == VideoDimensions(width: 640, height: 360))
        #expect(format.parameterSets == [Sample.baselineSPS.bytes, Sample.baselinePPS.bytes])
    }

    @Test func `a repeated set changes nothing and a new one does`() throws {
        var store = ParameterSetStore()
        #expect(try store.insert(Sample.baselineSPS))
        #expect(try !store.insert(Sample.baselineSPS))
        #expect(try store.insert(Sample.highSPS))
        #expect(store.sequenceParameterSet(id: 0)?.dimensions.width == 1920)
    }

    @Test func `other NAL units are ignored`() throws {
        var store = ParameterSetStore()
        #expect(try !store.insert(NALUnit(header: 0x65, payload: [1])))
    }

    @Test func `a set whose id cannot be read is an error and changes nothing`() throws {
        var store = ParameterSetStore()
        try store.insert(Sample.baselineSPS)
        #expect(throws: H264ParseError.self) { try store.insert(NALUnit(header: 0x67, payload: [66])) }
        #expect(store.sequenceParameterSet(id: 0)?.dimensions.width == 640)
    }

    @Test(arguments: [Sample.baselineSPS, Sample.baselinePPS])
    func `a set that cannot be parsed removes the one with its id`(whole: NALUnit) throws {
        let cut = try #require(
            NALUnit(ByteBuffer(bytes: whole.bytes.array.prefix(whole.type == .sequenceParameterSet ? 5 : 2))))
        var store = ParameterSetStore()
        for set in [Sample.baselineSPS, Sample.baselinePPS] { try store.insert(set) }
        #expect(throws: H264ParseError.self) { try store.insert(cut) }
        #expect(store.formatDescription(pictureParameterSetID: 0) == nil)
        #expect(try store.insert(whole))
        #expect(store.formatDescription(pictureParameterSetID: 0)?.dimensions.width == 640)
    }

    @Test func `sets that cannot be parsed take no room from those behind them`() throws {
        var store = ParameterSetStore()
        let cut = try #require(NALUnit(ByteBuffer(bytes: Sample.baselineSPS.bytes.array.prefix(5))))
        for _ in 0..<1000 {
            try store.insert(Sample.baselineSPS)
            #expect(throws: H264ParseError.self) { try store.insert(cut) }
        }
    }
}

@Suite struct AVCDecoderConfigurationRecordTests {
    @Test func `a record is laid out as the standard says`() throws {
        let format = try VideoFormatDescription(
            h264ParameterSets: [Sample.baselineSPS.bytes, Sample.baselinePPS.bytes])
        let expected: [UInt8] =
            [1, 66, 0xC0, 30, 0xFF, 0xE1, 0, 25] + Sample.baselineSPS.array + [1, 0, 5] + Sample.baselinePPS.array
        #expect(AVCDecoderConfigurationRecord(format: format).encode().array == expected)
    }

    @Test func `High profiles tell chroma format and bit depths`() throws {
        let format = try VideoFormatDescription(
            h264ParameterSets: [Sample.high422SPS.bytes, Sample.defaultListsPPS.bytes])
        let bytes = AVCDecoderConfigurationRecord(format: format).encode().array
        #expect(bytes.suffix(4) == [0xFE, 0xFA, 0xFA, 0])
    }

    @Test(arguments: [Sample.baselineSPS, Sample.highSPS, Sample.high422SPS, Sample.high444SPS])
    func `a record says what was put in`(sequenceSet: NALUnit) throws {
        let format = try VideoFormatDescription(h264ParameterSets: [sequenceSet.bytes, Sample.highPPS.bytes])
        let record = AVCDecoderConfigurationRecord(format: format)
        let parsed = try AVCDecoderConfigurationRecord(parsing: record.encode())
        #expect(parsed == record)
        #expect(parsed.parameterSets == format.parameterSets)
        #expect(try VideoFormatDescription(parsed) == format)
    }

    @Test func `a High record without the last fields is read`() throws {
        let format = try VideoFormatDescription(h264ParameterSets: [Sample.highSPS.bytes, Sample.highPPS.bytes])
        let whole = AVCDecoderConfigurationRecord(format: format).encode()
        let short = ByteBuffer(bytes: whole.array.dropLast(4))
        #expect(try AVCDecoderConfigurationRecord(parsing: short).parameterSets == format.parameterSets)
    }

    @Test func `a record cut short is an error`() throws {
        let format = try VideoFormatDescription(
            h264ParameterSets: [Sample.baselineSPS.bytes, Sample.baselinePPS.bytes])
        let bytes = AVCDecoderConfigurationRecord(format: format).encode().array
        for count in 0..<bytes.count {
            #expect(throws: H264ParseError.self) {
                try AVCDecoderConfigurationRecord(parsing: ByteBuffer(bytes: bytes.prefix(count)))
            }
        }
    }

    @Test func `another version and lengths of three bytes are errors`() {
        #expect(throws: H264ParseError.valueOutOfRange(field: "configurationVersion", value: 2)) {
            try AVCDecoderConfigurationRecord(parsing: ByteBuffer(bytes: [2, 66, 0, 30, 0xFF, 0xE0, 0]))
        }
        #expect(throws: H264ParseError.unsupportedLengthSize(3)) {
            try AVCDecoderConfigurationRecord(parsing: ByteBuffer(bytes: [1, 66, 0, 30, 0xFE, 0xE0, 0]))
        }
    }

    @Test(arguments: [(1, 0xFC), (2, 0xFD), (4, 0xFF)]) func `a record tells the size of lengths`(
        lengthSize: Int, byte: Int
    ) throws {
        var record = AVCDecoderConfigurationRecord(
            format: try VideoFormatDescription(h264ParameterSets: [Sample.highSPS.bytes, Sample.highPPS.bytes]))
        record.lengthSize = lengthSize
        let bytes = record.encode()
        #expect(Int(bytes.array[4]) == byte)
        let parsed = try AVCDecoderConfigurationRecord(parsing: bytes)
        #expect(parsed == record)
        let units = [Sample.highPPS, NALUnit(header: 0x65, payload: [1, 2, 3])]
        let sample = try LengthPrefixed.encode(units, lengthSize: parsed.lengthSize)
        #expect(try LengthPrefixed.nalUnits(in: sample, lengthSize: parsed.lengthSize) == units)
    }

    @Test(arguments: [66, 77, 88] as [UInt8]) func `Baseline, Main and Extended have no further fields`(
        profile: UInt8
    ) throws {
        var record = try AVCDecoderConfigurationRecord(parsing: ByteBuffer(bytes: [1, 66, 0, 30, 0xFF, 0xE0, 0]))
        record.profileLevel.profileIDC = profile
        #expect(record.encode().array == [1, profile, 0, 30, 0xFF, 0xE0, 0])
    }

    @Test(arguments: [44, 83, 86, 100, 110, 118, 122, 128, 144, 244] as [UInt8])
    func `other profiles have chroma format, bit depths and SPS extensions`(profile: UInt8) throws {
        let sequenceExtension: [UInt8] = [0x6D, 0x5A]
        let bytes: [UInt8] =
            [1, profile, 0, 30, 0xFF, 0xE0, 0] + [0xFE, 0xF9, 0xFA, 1, 0, 2] + sequenceExtension
        let record = try AVCDecoderConfigurationRecord(parsing: ByteBuffer(bytes: bytes))
        #expect(record.chromaFormat == 2)
        #expect(record.lumaBitDepth == 9)
        #expect(record.chromaBitDepth == 10)
        #expect(record.sequenceParameterSetExtensions.map(\.array) == [sequenceExtension])
        #expect(record.encode().array == bytes)
    }

    @Test func `sets beyond what the record can count are left out`() throws {
        var record = try AVCDecoderConfigurationRecord(
            parsing: ByteBuffer(bytes: [1, 66, 0, 30, 0xFF, 0xE0, 0]))
        record.sequenceParameterSets = [ByteBuffer](repeating: ByteBuffer(bytes: [0x67, 1]), count: 40)
        record.pictureParameterSets = [
            ByteBuffer(bytes: [0x68] + [UInt8](repeating: 1, count: 70000)), ByteBuffer(bytes: [0x68, 2]),
        ]
        let parsed = try AVCDecoderConfigurationRecord(parsing: record.encode())
        #expect(parsed.sequenceParameterSets.count == 31)
        #expect(parsed.pictureParameterSets.map(\.array) == [[0x68, 2]])
    }
}
