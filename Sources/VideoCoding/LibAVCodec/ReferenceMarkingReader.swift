import H264

/// Reads a slice header behind the picture order count, up to the marking of references (H.264 7.3.3). Nil means that
/// the bits ran out, or that no stream has them.
struct ReferenceMarkingReader {
    private var reader: NALBitReader
    private let sequence: SequenceParameterSet
    private let picture: PictureParameterSet
    private let kind: SliceHeader.Kind
    private var referenceCounts: (first: Int, second: Int)

    /// The most commands of one kind: no list has as many references, nor a decoder as many fields.
    private static let commandLimit = 66

    /// - Parameter reader: Stands at `redundant_pic_cnt`.
    init(
        _ reader: NALBitReader, kind: SliceHeader.Kind, sequence: SequenceParameterSet, picture: PictureParameterSet
    ) {
        self.reader = reader
        self.sequence = sequence
        self.picture = picture
        self.kind = kind
        referenceCounts = (picture.defaultReferenceCountL0, picture.defaultReferenceCountL1)
    }

    private var hasFirstList: Bool { kind != .intra && kind != .switchingIntra }
    private var hasSecondList: Bool { kind == .bipredictive }

    /// Returns true if a reference picture that is no IDR picture has `memory_management_control_operation` 5.
    mutating func restartsNumbers() -> Bool? {
        if picture.hasRedundantPictureCount, reader.unsigned() == nil { return nil }
        if hasSecondList, reader.flag() == nil { return nil }
        guard skipReferenceCounts(), !hasFirstList || skipListModification(),
            !hasSecondList || skipListModification(), skipWeights()
        else { return nil }
        guard let isAdaptive = reader.flag() else { return nil }
        guard isAdaptive else { return false }
        for _ in 0..<Self.commandLimit {
            switch reader.unsigned() {
            case 0: return false
            case 5: return true
            case 1, 2, 4, 6:
                if reader.unsigned() == nil { return nil }
            case 3:
                if reader.unsigned() == nil || reader.unsigned() == nil { return nil }
            default: return nil
            }
        }
        return nil
    }

    private mutating func skipReferenceCounts() -> Bool {
        guard hasFirstList else { return true }
        guard let isOverridden = reader.flag() else { return false }
        guard isOverridden else { return true }
        guard let first = reader.unsigned(), first < 32 else { return false }
        referenceCounts.first = Int(first) + 1
        guard hasSecondList else { return true }
        guard let second = reader.unsigned(), second < 32 else { return false }
        referenceCounts.second = Int(second) + 1
        return true
    }

    /// 7.3.3.1
    private mutating func skipListModification() -> Bool {
        guard let isModified = reader.flag() else { return false }
        guard isModified else { return true }
        for _ in 0..<Self.commandLimit {
            guard let command = reader.unsigned(), command <= 3 else { return false }
            if command == 3 { return true }
            if reader.unsigned() == nil { return false }
        }
        return false
    }

    /// 7.3.3.2
    private mutating func skipWeights() -> Bool {
        guard
            hasSecondList
                ? picture.weightedBipredictionMode == 1 : hasFirstList && picture.usesWeightedPrediction
        else { return true }
        let hasChroma = sequence.chromaArrayType != 0
        guard reader.unsigned() != nil, !hasChroma || reader.unsigned() != nil else { return false }
        for _ in 0..<referenceCounts.first + (hasSecondList ? referenceCounts.second : 0) {
            guard skipWeights(2), !hasChroma || skipWeights(4) else { return false }
        }
        return true
    }

    /// Skips a flag and, if it is set, so many numbers.
    private mutating func skipWeights(_ count: Int) -> Bool {
        guard let hasWeights = reader.flag() else { return false }
        for _ in 0..<(hasWeights ? count : 0) where reader.signed() == nil { return false }
        return true
    }
}
