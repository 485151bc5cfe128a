public import MediaCore
public import NIOCore

/// The `avcC` record of movie files: parameter sets and the size of NAL unit lengths (ISO/IEC 14496-15 5.3.3.1).
public struct AVCDecoderConfigurationRecord: Hashable, Sendable {
    public var profileLevel: H264ProfileLevelID
    /// Bytes of a NAL unit length in the samples: 1, 2 or 4, as `LengthPrefixed` takes it.
    public var lengthSize: Int
    /// SPS NAL units; the record holds at most 31.
    public var sequenceParameterSets: [ByteBuffer]
    /// PPS NAL units; the record holds at most 255.
    public var pictureParameterSets: [ByteBuffer]
    /// SPS extension NAL units (alpha).
    public var sequenceParameterSetExtensions: [ByteBuffer] = []
    /// `chroma_format`, written for all profiles but Baseline, Main and Extended.
    public var chromaFormat: UInt8 = 1
    /// Bits per luma sample, written likewise.
    public var lumaBitDepth: UInt8 = 8
    /// Bits per chroma sample, written likewise.
    public var chromaBitDepth: UInt8 = 8

    /// SPS, then PPS NAL units.
    public var parameterSets: [ByteBuffer] { sequenceParameterSets + pictureParameterSets }

    /// Describes samples with lengths of four bytes.
    public init(format: VideoFormatDescription) {
        profileLevel = format.profileLevel
        lengthSize = 4
        let units = format.parameterSets.compactMap(NALUnit.init)
        let sequenceUnits = units.filter { $0.type == .sequenceParameterSet }
        sequenceParameterSets = sequenceUnits.map(\.bytes)
        pictureParameterSets = units.filter { $0.type == .pictureParameterSet }.map(\.bytes)
        chromaFormat = format.chromaFormat
        lumaBitDepth = format.bitDepth
        chromaBitDepth =
            sequenceUnits.first.flatMap { try? SequenceParameterSet(parsing: $0).chromaBitDepth } ?? format.bitDepth
    }

    /// Parses a record. The part that only High profiles and above have may be missing, as many writers leave it out.
    public init(parsing record: ByteBuffer) throws(H264ParseError) {
        var reader = record
        let version = try reader.readByte("configurationVersion")
        guard version == 1 else { throw .valueOutOfRange(field: "configurationVersion", value: Int64(version)) }
        let profile = try reader.readByte("AVCProfileIndication")
        let constraints = try reader.readByte("profile_compatibility")
        let level = try reader.readByte("AVCLevelIndication")
        profileLevel = H264ProfileLevelID(
            profileIDC: profile, constraintFlags: constraints, levelIDC: level)
        lengthSize = Int(try reader.readByte("lengthSizeMinusOne") & 3) + 1
        guard lengthSize != 3 else { throw .unsupportedLengthSize(lengthSize) }
        let sequenceCount = try reader.readByte("numOfSequenceParameterSets") & 0x1F
        sequenceParameterSets = try reader.readUnits(
            Int(sequenceCount), of: .sequenceParameterSet, "sequenceParameterSetNALUnit")
        let pictureCount = try reader.readByte("numOfPictureParameterSets")
        pictureParameterSets = try reader.readUnits(
            Int(pictureCount), of: .pictureParameterSet, "pictureParameterSetNALUnit")
        guard hasHighProfileFields, reader.readableBytes >= 4 else { return }
        chromaFormat = try reader.readByte("chroma_format") & 3
        lumaBitDepth = try reader.readByte("bit_depth_luma_minus8") & 7 + 8
        chromaBitDepth = try reader.readByte("bit_depth_chroma_minus8") & 7 + 8
        let extensionCount = try reader.readByte("numOfSequenceParameterSetExt")
        sequenceParameterSetExtensions = try reader.readUnits(
            Int(extensionCount), of: .sequenceParameterSetExtension, "sequenceParameterSetExtNALUnit")
    }

    /// Returns the record's bytes. Sets beyond the limits of its counts, or longer than 65535 bytes, are left out.
    public func encode() -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: 64)
        buffer.writeBytes([
            1, profileLevel.profileIDC, profileLevel.constraintFlags, profileLevel.levelIDC,
            0xFC | UInt8(truncatingIfNeeded: lengthSize &- 1) & 3,
        ])
        buffer.writeUnits(sequenceParameterSets, maximumCount: 0x1F, reservedBits: 0xE0)
        buffer.writeUnits(pictureParameterSets, maximumCount: 0xFF, reservedBits: 0)
        guard hasHighProfileFields else { return buffer }
        buffer.writeBytes([
            0xFC | chromaFormat & 3, 0xF8 | (lumaBitDepth &- 8) & 7, 0xF8 | (chromaBitDepth &- 8) & 7,
        ])
        buffer.writeUnits(sequenceParameterSetExtensions, maximumCount: 0xFF, reservedBits: 0)
        return buffer
    }

    private var hasHighProfileFields: Bool {
        // The standard's first editions list High profiles; the later ones exclude Baseline, Main and Extended.
        ![66, 77, 88].contains(profileLevel.profileIDC)
    }
}

extension VideoFormatDescription {
    /// Describes the stream of a movie track.
    public init(_ record: AVCDecoderConfigurationRecord) throws(H264ParseError) {
        try self.init(h264ParameterSets: record.parameterSets)
    }
}

extension ByteBuffer {
    fileprivate mutating func readByte(_ field: String) throws(H264ParseError) -> UInt8 {
        guard let byte = readInteger(as: UInt8.self) else { throw .truncated(field: field) }
        return byte
    }

    fileprivate mutating func readUnits(
        _ count: Int, of type: NALUnitType, _ field: String
    ) throws(H264ParseError) -> [ByteBuffer] {
        var units: [ByteBuffer] = []
        for _ in 0..<count {
            guard let length = readInteger(as: UInt16.self), let bytes = readSlice(length: Int(length)),
                let unit = NALUnit(bytes)
            else { throw .truncated(field: field) }
            guard unit.type == type else { throw .unexpectedType(unit.type, expected: type) }
            units.append(bytes)
        }
        return units
    }

    fileprivate mutating func writeUnits(_ units: [ByteBuffer], maximumCount: Int, reservedBits: UInt8) {
        let fitting = units.filter { $0.readableBytes <= UInt16.max }.prefix(maximumCount)
        writeInteger(reservedBits | UInt8(truncatingIfNeeded: fitting.count))
        for unit in fitting {
            writeInteger(UInt16(truncatingIfNeeded: unit.readableBytes))
            writeImmutableBuffer(unit)
        }
    }
}
