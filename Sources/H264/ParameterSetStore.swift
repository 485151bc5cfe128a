public import MediaCore

/// The parameter sets that a stream has sent so far, by id, as a decoder keeps them.
///
/// The sender decides how many sets come and how often they change, so each one is parsed once, when it comes. A format
/// is made from the parsed sets.
public struct ParameterSetStore: Sendable {
    private struct Entry<Set: Sendable>: Sendable {
        var unit: NALUnit
        var set: Set
    }

    /// The most bytes of all sets together. 256 PPSs of an encoder's usual size, 5 to 40 bytes, fit.
    public static let maximumSize = 16 << 10

    private var sequenceSets: [UInt8: Entry<SequenceParameterSet>] = [:]
    private var pictureSets: [UInt8: Entry<PictureParameterSet>] = [:]
    private var size = 0
    private(set) var parsedCount = 0

    public init() {}

    /// Stores an SPS or PPS, in place of the one with the same id. Other NAL units are ignored.
    ///
    /// If the set is of no use, the former one is gone all the same: pictures behind it are not coded by that.
    ///
    /// - Returns: True if anything changed: false when the very same set was there already.
    @discardableResult
    public mutating func insert(_ nalUnit: NALUnit) throws(H264ParseError) -> Bool {
        switch nalUnit.type {
        case .sequenceParameterSet:
            // Encoders repeat their sets before every IDR picture: these need no parsing.
            let id = Self.id(of: nalUnit)
            let before = id.flatMap { sequenceSets[$0] }
            if before?.unit == nalUnit { return false }
            if let id, let before {
                sequenceSets[id] = nil
                size -= before.unit.count
            }
            defer { if let id { forgetPictureSets(of: id, writtenFor: before?.set) } }
            try checkSize(of: nalUnit)
            parsedCount += 1
            let set = try SequenceParameterSet(parsing: nalUnit)
            size += nalUnit.count
            sequenceSets[set.id] = Entry(unit: nalUnit, set: set)
            return true
        case .pictureParameterSet:
            let id = Self.id(of: nalUnit)
            let before = id.flatMap { pictureSets[$0] }
            if before?.unit == nalUnit { return false }
            if let id, let before {
                pictureSets[id] = nil
                size -= before.unit.count
            }
            try checkSize(of: nalUnit)
            let set = try parse(nalUnit)
            size += nalUnit.count
            pictureSets[set.id] = Entry(unit: nalUnit, set: set)
            return true
        default:
            return false
        }
    }

    private func checkSize(of nalUnit: NALUnit) throws(H264ParseError) {
        let sum = size + nalUnit.count
        guard sum <= Self.maximumSize else { throw .tooManyParameterSets(count: sum, maximum: Self.maximumSize) }
    }

    private mutating func parse(_ nalUnit: NALUnit) throws(H264ParseError) -> PictureParameterSet {
        parsedCount += 1
        var reader = BitReader(nalUnit.rawPayload(sourceLimit: Self.sizeOfIDs))
        _ = try reader.unsigned("pic_parameter_set_id", in: 0...255)
        let sequenceID = UInt8(try reader.unsigned("seq_parameter_set_id", in: 0...31))
        return try PictureParameterSet(
            parsing: nalUnit, chromaFormat: sequenceParameterSet(id: sequenceID)?.chromaFormat ?? 1)
    }

    /// Removes the PPSs with scaling lists of an SPS that begins or ends 4:4:4 video, which has more such lists. They
    /// were written for the SPS before, and parsing them again at each change of the SPS would be work that a sender
    /// can cause without end.
    private mutating func forgetPictureSets(of sequenceID: UInt8, writtenFor before: SequenceParameterSet?) {
        guard (sequenceSets[sequenceID]?.set.chromaFormat == 3) != (before?.chromaFormat == 3) else { return }
        for (id, entry) in pictureSets
        where entry.set.sequenceParameterSetID == sequenceID && entry.set.dependsOnChromaFormat {
            size -= entry.unit.count
            pictureSets[id] = nil
        }
    }

    /// The id of a set, of whose bytes no more is looked at than the id needs; nil if it is none.
    private static func id(of nalUnit: NALUnit) -> UInt8? {
        // An SPS has profile, constraints and level before its id.
        let skipped = nalUnit.type == .sequenceParameterSet ? 24 : 0
        var reader = BitReader(nalUnit.rawPayload(sourceLimit: sizeOfIDs))
        guard (try? reader.bits(skipped, "profile_idc")) != nil, let id = try? reader.unsigned("id", in: 0...255) else {
            return nil
        }
        return UInt8(id)
    }

    /// The largest number of bytes of a set up to the end of its ids.
    private static let sizeOfIDs = 8

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
        return VideoFormatDescription(
            sequenceSets: [(sequenceSet.set, sequenceSet.unit.bytes)],
            pictureSets: dependents.map { ($0.set, $0.unit.bytes) }, active: sequenceSet.set)
    }
}
