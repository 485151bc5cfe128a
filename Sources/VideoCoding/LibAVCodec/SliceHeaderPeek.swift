import H264

/// A picture's place, as stated in a slice header: its field or frame, and its position in output order (H.264 7.3.3).
struct SliceHeaderPeek {
    var isIDR: Bool
    var isReference: Bool
    var isBidirectional: Bool
    var frameNumber: UInt32
    var isField: Bool
    var isBottomField: Bool
    /// `pic_order_cnt_lsb`, of picture order count type 0.
    var orderCountLSB: UInt32 = 0
    /// `delta_pic_order_cnt[0]`, of picture order count type 1.
    var orderCountDelta = 0
    /// True if for the pictures after it this one has `frame_num` 0 and begins the output order, as an IDR picture does
    /// (`memory_management_control_operation` 5; H.264 7.4.3, 8.2.1).
    var restartsNumbers = false

    /// Reads the header of a slice or of data partition A; nil when it is cut off or is none.
    ///
    /// - Parameter pictureSets: The PPSs, one of which the slice names; without it `restartsNumbers` is not known.
    init?(
        _ nalUnit: UnsafeRawBufferPointer, sequence: SequenceParameterSet, pictureSets: [PictureParameterSet]
    ) {
        guard let header = nalUnit.first else { return nil }
        let type = header & 0x1F
        guard type == 1 || type == 2 || type == 5 else { return nil }
        isIDR = type == 5
        isReference = header >> 5 & 3 != 0
        var reader = NALBitReader(nalUnit)
        guard reader.unsigned() != nil, let sliceType = reader.unsigned(), let pictureSetID = reader.unsigned() else {
            return nil
        }
        isBidirectional = sliceType % 5 == 1
        if sequence.hasSeparateColourPlanes, reader.bits(2) == nil { return nil }
        guard let frameNumber = reader.bits(sequence.log2MaximumFrameNumber) else { return nil }
        self.frameNumber = frameNumber
        isField = false
        isBottomField = false
        if !sequence.isFrameOnly {
            guard let isField = reader.flag() else { return nil }
            self.isField = isField
            if isField {
                guard let isBottomField = reader.flag() else { return nil }
                self.isBottomField = isBottomField
            }
        }
        if isIDR, reader.unsigned() == nil { return nil }
        switch sequence.pictureOrderCount {
        case .explicit(let bits):
            guard let value = reader.bits(bits) else { return nil }
            orderCountLSB = value
        case .cyclic(deltaIsAlwaysZero: false, _, _, _):
            guard let value = reader.signed() else { return nil }
            orderCountDelta = value
        case .cyclic, .decodingOrder:
            break
        }
        guard isReference, !isIDR, let kind = SliceHeader.Kind(rawValue: Int(sliceType % 5)),
            let picture = pictureSets.first(where: { $0.id == pictureSetID })
        else { return }
        if picture.hasBottomFieldPictureOrder, !isField, sequence.hasPictureOrderCountDeltas, reader.signed() == nil {
            return
        }
        restartsNumbers = Self.restartsNumbers(&reader, kind: kind, sequence: sequence, picture: picture)
    }

    /// Returns true if the marking of references has operation 5. The reader stands behind the picture order count.
    private static func restartsNumbers(
        _ reader: inout NALBitReader, kind: SliceHeader.Kind, sequence: SequenceParameterSet,
        picture: PictureParameterSet
    ) -> Bool {
        let (hasFirstList, hasSecondList) = (kind != .intra && kind != .switchingIntra, kind == .bipredictive)
        if picture.hasRedundantPictureCount, reader.unsigned() == nil { return false }
        if hasSecondList, reader.flag() == nil { return false }
        if hasFirstList {
            guard let counts = reader.referenceCounts(by: picture, hasSecondList: hasSecondList),
                reader.readListModification(), !hasSecondList || reader.readListModification()
            else { return false }
            let hasWeights = hasSecondList ? picture.weightedBipredictionMode == 1 : picture.usesWeightedPrediction
            let count = counts.first + (hasSecondList ? counts.second : 0)
            guard !hasWeights || reader.skipWeights(of: count, hasChroma: sequence.chromaArrayType != 0) else {
                return false
            }
        }
        var restarts = false
        _ = reader.readMarking { operation, _ in restarts = restarts || operation == 5 }
        return restarts
    }
}

extension SequenceParameterSet {
    /// True if slices state how far the picture order count of the bottom field is from that of the top one, where PPSs
    /// say so.
    fileprivate var hasPictureOrderCountDeltas: Bool {
        switch pictureOrderCount {
        case .explicit, .cyclic(deltaIsAlwaysZero: false, _, _, _): true
        case .cyclic, .decodingOrder: false
        }
    }
}
