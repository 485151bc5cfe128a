public import MediaCore

/// The parameter sets that a stream has sent so far, by id, as a decoder keeps them.
public struct ParameterSetStore: Sendable {
    private struct Entry<Set: Sendable>: Sendable {
        var unit: NALUnit
        var set: Set
    }

    private var sequenceSets: [UInt8: Entry<SequenceParameterSet>] = [:]
    private var pictureSets: [UInt8: Entry<PictureParameterSet>] = [:]

    public init() {}

    /// Stores an SPS or PPS, in place of the one with the same id. Other NAL units are ignored.
    ///
    /// - Returns: Whether anything changed: false when the very same set was there already.
    @discardableResult
    public mutating func insert(_ nalUnit: NALUnit) throws(H264ParseError) -> Bool {
        switch nalUnit.type {
        case .sequenceParameterSet:
            // Encoders repeat their sets before every IDR picture: these need no parsing.
            if sequenceSets.values.contains(where: { $0.unit == nalUnit }) { return false }
            let set = try SequenceParameterSet(parsing: nalUnit)
            sequenceSets[set.id] = Entry(unit: nalUnit, set: set)
            return true
        case .pictureParameterSet:
            if pictureSets.values.contains(where: { $0.unit == nalUnit }) { return false }
            var set = try PictureParameterSet(parsing: nalUnit)
            if let sequenceSet = sequenceParameterSet(id: set.sequenceParameterSetID), sequenceSet.chromaFormat == 3 {
                set = try PictureParameterSet(parsing: nalUnit, chromaFormat: sequenceSet.chromaFormat)
            }
            pictureSets[set.id] = Entry(unit: nalUnit, set: set)
            return true
        default:
            return false
        }
    }

    /// The SPS with an id, if it was sent.
    public func sequenceParameterSet(id: UInt8) -> SequenceParameterSet? { sequenceSets[id]?.set }

    /// The PPS with an id, if it was sent.
    public func pictureParameterSet(id: UInt8) -> PictureParameterSet? { pictureSets[id]?.set }

    /// The format of pictures that use a PPS: its SPS, and every PPS that refers to that; nil when either is missing.
    public func formatDescription(pictureParameterSetID id: UInt8) -> VideoFormatDescription? {
        guard let active = pictureSets[id]?.set, let sequenceSet = sequenceSets[active.sequenceParameterSetID] else {
            return nil
        }
        let dependents = pictureSets.values
            .filter { $0.set.sequenceParameterSetID == sequenceSet.set.id }
            .sorted { $0.set.id < $1.set.id }
        return try? VideoFormatDescription(
            h264ParameterSets: [sequenceSet.unit.bytes] + dependents.map(\.unit.bytes))
    }
}
