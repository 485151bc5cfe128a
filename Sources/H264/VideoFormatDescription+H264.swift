public import MediaCore
public import NIOCore

extension VideoFormatDescription {
    /// The largest width or height, in luma samples, of a picture that we take.
    public static let maximumDimension = 8192

    /// Describes an H.264 stream by its parameter sets.
    ///
    /// - Parameter parameterSets: SPS and PPS NAL units in any order, with their header byte, without start code; a later
    ///   one replaces an earlier one of the same kind and id. The first SPS gives size, profile and so on. A PPS whose
    ///   SPS is not there is left out, as are SPS extensions and subset SPSs.
    public init(h264ParameterSets parameterSets: [ByteBuffer]) throws(H264ParseError) {
        var sequenceSets: [(set: SequenceParameterSet, bytes: ByteBuffer)] = []
        var pictureUnits: [NALUnit] = []
        for unit in parameterSets.lazy.compactMap(NALUnit.init) {
            switch unit.type {
            case .sequenceParameterSet:
                let set = try SequenceParameterSet(parsing: unit)
                if let index = sequenceSets.firstIndex(where: { $0.set.id == set.id }) {
                    sequenceSets[index] = (set, unit.bytes)
                } else {
                    sequenceSets.append((set, unit.bytes))
                }
            case .pictureParameterSet:
                pictureUnits.append(unit)
            case .sequenceParameterSetExtension, .subsetSequenceParameterSet:
                continue
            case let other:
                throw .unexpectedType(other, expected: .sequenceParameterSet)
            }
        }
        guard let first = sequenceSets.first?.set else { throw .missingParameterSet(.sequenceParameterSet) }
        var pictureSets: [(id: UInt8, bytes: ByteBuffer)] = []
        for unit in pictureUnits {
            let set = try PictureParameterSet(parsing: unit, chromaFormat: first.chromaFormat)
            guard sequenceSets.contains(where: { $0.set.id == set.sequenceParameterSetID }) else { continue }
            if let index = pictureSets.firstIndex(where: { $0.id == set.id }) {
                pictureSets[index].bytes = unit.bytes
            } else {
                pictureSets.append((set.id, unit.bytes))
            }
        }
        guard !pictureSets.isEmpty else { throw .missingParameterSet(.pictureParameterSet) }
        self.init(
            parameterSets: sequenceSets.map(\.bytes) + pictureSets.map(\.bytes), profileLevel: first.profileLevel,
            dimensions: first.dimensions, codedDimensions: first.codedDimensions, chromaFormat: first.chromaFormat,
            bitDepth: first.lumaBitDepth, maximumReferenceFrames: first.maximumReferenceFrames,
            reorderDepth: first.reorderDepth,
            pixelAspectRatio: first.usability?.sampleAspectRatio ?? VideoDimensions(width: 1, height: 1))
    }
}
