public import MediaCore
public import NIOCore

extension VideoFormatDescription {
    /// The largest width or height, in luma samples, of a picture that we take.
    public static let maximumDimension = 8192

    /// Describes an H.264 stream by its parameter sets.
    ///
    /// - Parameter parameterSets: SPS and PPS NAL units in any order, with their header byte, without start code; a
    ///   later one replaces an earlier one of the same kind and id. The first SPS gives size, profile and so on. A PPS
    ///   whose SPS is not there is left out, as are SPS extensions and subset SPSs.
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
        var pictureSets: [(set: PictureParameterSet, bytes: ByteBuffer)] = []
        for unit in pictureUnits {
            let set = try PictureParameterSet(parsing: unit, chromaFormat: first.chromaFormat)
            guard sequenceSets.contains(where: { $0.set.id == set.sequenceParameterSetID }) else { continue }
            if let index = pictureSets.firstIndex(where: { $0.set.id == set.id }) {
                pictureSets[index] = (set, unit.bytes)
            } else {
                pictureSets.append((set, unit.bytes))
            }
        }
        guard !pictureSets.isEmpty else { throw .missingParameterSet(.pictureParameterSet) }
        self.init(sequenceSets: sequenceSets, pictureSets: pictureSets, active: first)
    }

    /// Describes a stream by sets that are parsed already.
    ///
    /// - Parameter active: The SPS that gives size, profile and so on.
    init(
        sequenceSets: [(set: SequenceParameterSet, bytes: ByteBuffer)],
        pictureSets: [(set: PictureParameterSet, bytes: ByteBuffer)], active: SequenceParameterSet
    ) {
        self.init(
            parameterSets: sequenceSets.map(\.bytes) + pictureSets.map(\.bytes), properties: Properties(active),
            meaning: H264ParameterSets(
                active: active.id, sequenceSets: sequenceSets.map(\.set), pictureSets: pictureSets.map(\.set)))
    }

    /// The parsed SPSs, in the order of `parameterSets`; empty if the description was not made from parameter sets.
    public var sequenceParameterSets: [SequenceParameterSet] {
        (meaning as? H264ParameterSets)?.sequenceSets ?? []
    }

    /// The parsed PPSs, in the order of `parameterSets`; empty if the description was not made from parameter sets.
    public var pictureParameterSets: [PictureParameterSet] {
        (meaning as? H264ParameterSets)?.pictureSets ?? []
    }
}

extension VideoFormatDescription.Properties {
    init(_ set: SequenceParameterSet) {
        self.init(profileLevel: set.profileLevel, dimensions: set.dimensions, codedDimensions: set.codedDimensions)
        chromaFormat = set.chromaFormat
        bitDepth = set.lumaBitDepth
        maximumReferenceFrames = set.maximumReferenceFrames
        reorderDepth = set.reorderDepth
        if set.dimensions != set.codedDimensions {
            cleanAperture = PixelRect(
                x: set.cropping.left, y: set.cropping.top, width: set.dimensions.width, height: set.dimensions.height)
        }
        pixelAspectRatio = set.usability?.sampleAspectRatio ?? pixelAspectRatio
        colour = set.usability?.videoSignal?.colour ?? .unspecified
        frameRate = set.usability?.timing?.frameRate
    }
}

/// All that a stream's parameter sets say. Two streams whose sets are written differently, or sent in another order,
/// are of one format when these are equal.
private struct H264ParameterSets: Hashable {
    /// `seq_parameter_set_id` of the SPS that describes the stream.
    var active: UInt8
    var sequenceSets: [SequenceParameterSet]
    var pictureSets: [PictureParameterSet]

    static func == (left: H264ParameterSets, right: H264ParameterSets) -> Bool {
        left.active == right.active && Set(left.sequenceSets) == Set(right.sequenceSets)
            && Set(left.pictureSets) == Set(right.pictureSets)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(active)
        hasher.combine(Set(sequenceSets))
        hasher.combine(Set(pictureSets))
    }
}
