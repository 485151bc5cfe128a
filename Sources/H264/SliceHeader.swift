/// The fields of a slice header that tell one coded picture from the next (H.264 7.3.3, 7.4.1.2.4).
public struct SliceHeader: Hashable, Sendable {
    /// `slice_type` modulo 5 (H.264 table 7-6).
    public enum Kind: Int, Hashable, Sendable {
        case predictive = 0
        case bipredictive = 1
        case intra = 2
        case switchingPredictive = 3
        case switchingIntra = 4
    }

    /// `first_mb_in_slice`.
    public var firstMacroblock: Int
    public var kind: Kind
    public var pictureParameterSetID: UInt8
    /// `frame_num`.
    public var frameNumber: UInt32
    public var isField: Bool
    public var isBottomField: Bool
    /// `idr_pic_id`; nil in pictures that are not IDR.
    public var idrPictureID: Int?
    /// `pic_order_cnt_lsb`, of picture order count type 0.
    public var pictureOrderCountLSB: UInt32?
    /// `delta_pic_order_cnt_bottom`, of picture order count type 0.
    public var bottomPictureOrderCountDelta = 0
    /// `delta_pic_order_cnt`, of picture order count type 1.
    public var pictureOrderCountDeltas: [Int] = []
    /// `redundant_pic_cnt`: 0 in slices of the primary picture.
    public var redundantPictureCount = 0
    /// True for a slice of a redundant picture, a replacement for the primary one.
    public var isRedundant: Bool { redundantPictureCount > 0 }
    /// `nal_ref_idc` of the NAL unit.
    public var referenceIDC: UInt8

    /// The most bytes of a slice that its header's fields up to `redundant_pic_cnt` take, emulation prevention
    /// included.
    private static let maximumSize = 96

    /// Parses the header of a slice, or of data partition A, whose parameter sets are in `store`.
    public init(parsing nalUnit: NALUnit, parameterSets store: ParameterSetStore) throws(H264ParseError) {
        guard nalUnit.type.hasSliceHeader else {
            throw .unexpectedType(nalUnit.type, expected: .codedSliceNonIDR)
        }
        var reader = BitReader(nalUnit.rawPayload(sourceLimit: Self.maximumSize))
        firstMacroblock = try reader.unsigned("first_mb_in_slice")
        let sliceType = try reader.unsigned("slice_type", in: 0...9)
        guard let kind = Kind(rawValue: sliceType % 5) else {
            throw .valueOutOfRange(field: "slice_type", value: Int64(sliceType))
        }
        self.kind = kind
        pictureParameterSetID = UInt8(try reader.unsigned("pic_parameter_set_id", in: 0...255))
        guard let pictureSet = store.pictureParameterSet(id: pictureParameterSetID) else {
            throw .missingParameterSet(.pictureParameterSet)
        }
        guard let sequenceSet = store.sequenceParameterSet(id: pictureSet.sequenceParameterSetID) else {
            throw .missingParameterSet(.sequenceParameterSet)
        }
        referenceIDC = nalUnit.referenceIDC
        if sequenceSet.hasSeparateColourPlanes { _ = try reader.bits(2, "colour_plane_id") }
        frameNumber = try reader.bits(sequenceSet.log2MaximumFrameNumber, "frame_num")
        isField = sequenceSet.isFrameOnly ? false : try reader.flag("field_pic_flag")
        isBottomField = isField ? try reader.flag("bottom_field_flag") : false
        if nalUnit.type == .codedSliceIDR { idrPictureID = try reader.unsigned("idr_pic_id", in: 0...65535) }
        let hasBottomDelta = pictureSet.hasBottomFieldPictureOrder && !isField
        switch sequenceSet.pictureOrderCount {
        case .explicit(let bits):
            pictureOrderCountLSB = try reader.bits(bits, "pic_order_cnt_lsb")
            if hasBottomDelta { bottomPictureOrderCountDelta = try reader.signed("delta_pic_order_cnt_bottom") }
        case .cyclic(let deltaIsAlwaysZero, _, _, _):
            if !deltaIsAlwaysZero {
                pictureOrderCountDeltas = [try reader.signed("delta_pic_order_cnt[0]")]
                if hasBottomDelta { pictureOrderCountDeltas.append(try reader.signed("delta_pic_order_cnt[1]")) }
            }
        case .decodingOrder:
            break
        }
        if pictureSet.hasRedundantPictureCount {
            redundantPictureCount = try reader.unsigned("redundant_pic_cnt", in: 0...127)
        }
    }

    /// Returns true if `next` is a slice of another primary picture than this slice's (H.264 7.4.1.2.4).
    public func isOfOtherPicture(than next: SliceHeader) -> Bool {
        frameNumber != next.frameNumber || pictureParameterSetID != next.pictureParameterSetID
            || isField != next.isField || isBottomField != next.isBottomField
            || (referenceIDC == 0) != (next.referenceIDC == 0)
            || pictureOrderCountLSB != next.pictureOrderCountLSB
            || bottomPictureOrderCountDelta != next.bottomPictureOrderCountDelta
            || pictureOrderCountDeltas != next.pictureOrderCountDeltas
            || idrPictureID != next.idrPictureID
    }
}
