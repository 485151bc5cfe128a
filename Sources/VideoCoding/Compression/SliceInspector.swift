import H264
import NIOCore

/// Reads a frame's number, references and QP in a slice's header, because encoders do not report them.
///
/// It reads the first few bytes in place and needs no memory.
struct SliceInspector {
    private let sequence: SequenceParameterSet
    private let picture: PictureParameterSet

    /// - Parameter parameterSets: An SPS and a PPS, as an encoder of ours makes them: frames only, 4:2:0.
    init?(parameterSets: [ByteBuffer]) {
        let units = parameterSets.compactMap(NALUnit.init)
        guard let sequenceUnit = units.first(where: { $0.type == .sequenceParameterSet }),
            let pictureUnit = units.first(where: { $0.type == .pictureParameterSet }),
            let sequence = try? SequenceParameterSet(parsing: sequenceUnit),
            let picture = try? PictureParameterSet(parsing: pictureUnit)
        else { return nil }
        self.sequence = sequence
        self.picture = picture
    }

    /// True if there are no fields, whose slices are not understood.
    var isFrameOnly: Bool { sequence.isFrameOnly && !sequence.hasSeparateColourPlanes }

    /// The first slice's header of a frame; nil without a slice.
    ///
    /// - Parameter data: NAL units behind their lengths in four bytes.
    func inspect(_ data: ByteBuffer) -> SliceSummary? {
        data.withUnsafeReadableBytes { bytes in
            var offset = 0
            while offset + 4 < bytes.count {
                let length = Int(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self).bigEndian)
                let start = offset + 4
                guard length > 0, length <= bytes.count - start else { return nil }
                let unit = UnsafeRawBufferPointer(rebasing: bytes[start..<start + length])
                if let summary = summary(of: unit) { return summary }
                offset = start + length
            }
            return nil
        }
    }

    private func summary(of unit: UnsafeRawBufferPointer) -> SliceSummary? {
        let header = unit[0]
        guard header & 0x1F == 1 || header & 0x1F == 5 else { return nil }
        let isIDR = header & 0x1F == 5
        var reader = NALBitReader(unit)
        guard reader.unsigned() != nil, let sliceType = reader.unsigned(), reader.unsigned() != nil,
            let frameNumber = reader.bits(sequence.log2MaximumFrameNumber)
        else { return nil }
        var summary = SliceSummary(
            type: isIDR ? .idr : sliceType % 5 == 2 ? .i : sliceType % 5 == 1 ? .b : .p,
            isReference: header >> 5 & 3 != 0, frameNumber: Int(frameNumber))
        if isIDR {
            guard let id = reader.unsigned() else { return nil }
            summary.keyframeID = Int(id)
        }
        guard skipPictureOrderCount(&reader), readReferences(&reader, into: &summary) else { return summary }
        return summary
    }

    private func skipPictureOrderCount(_ reader: inout NALBitReader) -> Bool {
        switch sequence.pictureOrderCount {
        case .explicit(let bits):
            guard reader.bits(bits) != nil else { return false }
            if picture.hasBottomFieldPictureOrder { return reader.signed() != nil }
        case .cyclic(deltaIsAlwaysZero: false, _, _, _):
            guard reader.signed() != nil else { return false }
            if picture.hasBottomFieldPictureOrder { return reader.signed() != nil }
        case .cyclic, .decodingOrder: break
        }
        return !picture.hasRedundantPictureCount || reader.unsigned() != nil
    }

    /// Reference lists, their marking and the QP (H.264 7.3.3.1 to 7.3.3.3).
    private func readReferences(_ reader: inout NALBitReader, into summary: inout SliceSummary) -> Bool {
        let hasSecondList = summary.type == .b
        if hasSecondList, reader.flag() == nil { return false }
        if summary.type == .p || hasSecondList {
            guard let counts = reader.referenceCounts(by: picture, hasSecondList: hasSecondList) else { return false }
            summary.referenceCount = counts.first
            guard readModifications(&reader, into: &summary),
                !hasSecondList || readModifications(&reader, into: &summary)
            else { return false }
            let hasWeights = hasSecondList ? picture.weightedBipredictionMode == 1 : picture.usesWeightedPrediction
            let count = counts.first + (hasSecondList ? counts.second : 0)
            guard !hasWeights || reader.skipWeights(of: count, hasChroma: true) else { return false }
        }
        if summary.isReference, !readMarking(&reader, into: &summary) { return false }
        if picture.usesCABAC, summary.type == .p || summary.type == .b, reader.unsigned() == nil { return false }
        guard let delta = reader.signed() else { return false }
        summary.qp = picture.initialQP + delta
        return true
    }

    private func readModifications(_ reader: inout NALBitReader, into summary: inout SliceSummary) -> Bool {
        var usesLongTermReference = summary.usesLongTermReference
        defer { summary.usesLongTermReference = usesLongTermReference }
        return reader.readListModification { if $0 == 2 { usesLongTermReference = true } }
    }

    private func readMarking(_ reader: inout NALBitReader, into summary: inout SliceSummary) -> Bool {
        if summary.type == .idr {
            guard reader.flag() != nil, let isLongTerm = reader.flag() else { return false }
            summary.isLongTermReference = isLongTerm
            return true
        }
        let (count, frameNumber) = (1 << sequence.log2MaximumFrameNumber, summary.frameNumber)
        var marked = summary.markedFrameNumber
        defer { summary.markedFrameNumber = marked }
        return reader.readMarking { operation, number in
            if operation == 3, let difference = number {
                marked = (frameNumber - Int(difference) - 1 + 2 * count) % count
            }
            if operation == 6 { marked = frameNumber }
        }
    }
}

/// Facts of a frame in a slice's header.
struct SliceSummary: Hashable {
    var type: FrameType
    /// `nal_ref_idc` is not zero.
    var isReference: Bool
    /// `frame_num`.
    var frameNumber: Int
    /// `idr_pic_id`; nil in frames that are not IDR.
    var keyframeID: Int?
    /// `num_ref_idx_l0_active_minus1` + 1; zero in intra frames.
    var referenceCount = 0
    var usesLongTermReference = false
    /// `long_term_reference_flag` of an IDR picture.
    var isLongTermReference = false
    /// The `frame_num` of the frame that is a long-term reference from here on; nil if there is no new one.
    var markedFrameNumber: Int?
    /// The quantisation parameter of the slice's beginning.
    var qp: Int?
}
