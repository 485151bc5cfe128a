import H264
import MediaCore
import NIOCore

/// Follows the parameter sets of a stream and makes the format they describe.
struct ParameterSetTracker {
    private var sequenceSets: [(id: Int, nalUnit: NALUnit)] = []
    private var pictureSets: [(id: Int, nalUnit: NALUnit)] = []
    private var cached: VideoFormatDescription?

    /// Forgets everything and takes `nalUnits`, of which only parameter sets count.
    mutating func replace(with nalUnits: [NALUnit]) {
        self = ParameterSetTracker()
        for nalUnit in nalUnits { add(nalUnit) }
    }

    /// Takes a parameter set, in place of an earlier one with its id; other NAL units and broken sets are ignored.
    mutating func add(_ nalUnit: NALUnit) {
        switch nalUnit.type {
        case .sequenceParameterSet:
            guard let parsed = try? SequenceParameterSet(parsing: nalUnit) else { return }
            store(nalUnit, id: Int(parsed.id), in: \.sequenceSets)
        case .pictureParameterSet:
            guard let parsed = try? PictureParameterSet(parsing: nalUnit) else { return }
            store(nalUnit, id: Int(parsed.id), in: \.pictureSets)
        default:
            break
        }
    }

    private mutating func store(
        _ nalUnit: NALUnit, id: Int, in list: WritableKeyPath<ParameterSetTracker, [(id: Int, nalUnit: NALUnit)]>
    ) {
        if let index = self[keyPath: list].firstIndex(where: { $0.id == id }) {
            guard self[keyPath: list][index].nalUnit != nalUnit else { return }
            self[keyPath: list][index].nalUnit = nalUnit
        } else {
            self[keyPath: list].append((id, nalUnit))
        }
        cached = nil
    }

    /// The format of the stream as it stands; nil before the first SPS and PPS.
    mutating func format() throws(H264ParseError) -> VideoFormatDescription? {
        if let cached { return cached }
        guard !sequenceSets.isEmpty, !pictureSets.isEmpty else { return nil }
        let format = try VideoFormatDescription(
            h264ParameterSets: (sequenceSets + pictureSets).map(\.nalUnit.bytes))
        cached = format
        return format
    }
}
