import H264

/// Writes an SPS by its syntax elements, for streams that no available encoder makes.
struct SequenceParameterSetBuilder {
    enum PictureOrderCount {
        case explicit(log2MaximumLSB: Int)
        case cyclic(deltaIsAlwaysZero: Bool, nonReference: Int, topToBottom: Int, offsets: [Int])
        case decodingOrder
    }

    var profileIDC: UInt8 = 77
    var constraintFlags: UInt8 = 0
    var levelIDC: UInt8 = 31
    var id = 0
    var chromaFormat = 1
    var separatePlanes = false
    var bitDepths = (luma: 8, chroma: 8)
    /// Writes the scaling lists, behind `seq_scaling_matrix_present_flag`.
    var scalingLists: ((inout BitWriter) -> Void)?
    var log2MaximumFrameNumber = 4
    var pictureOrderCount = PictureOrderCount.explicit(log2MaximumLSB: 4)
    var referenceFrames = 1
    var widthInMacroblocks = 20
    var heightInMapUnits = 15
    var isFrameOnly = true
    /// Left, right, top and bottom offsets in crop units.
    var cropping: [Int]?
    /// Writes the VUI, behind `vui_parameters_present_flag`.
    var usability: ((inout BitWriter) -> Void)?

    func build() -> NALUnit {
        var writer = BitWriter()
        for byte in [profileIDC, constraintFlags, levelIDC] { writer.bits(Int(byte), 8) }
        writer.unsigned(id)
        if profileIDC >= 100 || profileIDC == 44 {
            writer.unsigned(chromaFormat)
            if chromaFormat == 3 { writer.flag(separatePlanes) }
            writer.unsigned(bitDepths.luma - 8)
            writer.unsigned(bitDepths.chroma - 8)
            writer.flag(false)
            writer.flag(scalingLists != nil)
            scalingLists?(&writer)
        }
        writer.unsigned(log2MaximumFrameNumber - 4)
        switch pictureOrderCount {
        case .explicit(let bits):
            writer.unsigned(0)
            writer.unsigned(bits - 4)
        case .cyclic(let deltaIsAlwaysZero, let nonReference, let topToBottom, let offsets):
            writer.unsigned(1)
            writer.flag(deltaIsAlwaysZero)
            writer.signed(nonReference)
            writer.signed(topToBottom)
            writer.unsigned(offsets.count)
            for offset in offsets { writer.signed(offset) }
        case .decodingOrder:
            writer.unsigned(2)
        }
        writer.unsigned(referenceFrames)
        writer.flag(false)
        writer.unsigned(widthInMacroblocks - 1)
        writer.unsigned(heightInMapUnits - 1)
        writer.flag(isFrameOnly)
        if !isFrameOnly { writer.flag(true) }
        writer.flag(true)
        writer.flag(cropping != nil)
        for offset in cropping ?? [] { writer.unsigned(offset) }
        writer.flag(usability != nil)
        usability?(&writer)
        writer.stop()
        return NALUnit(type: .sequenceParameterSet, referenceIDC: 3, rawPayload: writer.bytes)
    }
}

/// Writes a PPS by its syntax elements.
struct PictureParameterSetBuilder {
    var id = 0
    var sequenceParameterSetID = 0
    var usesCABAC = false
    var hasBottomFieldPictureOrder = false
    var sliceGroupCount = 1
    /// Writes the slice group map type and its parameters.
    var sliceGroups: ((inout BitWriter) -> Void)?
    var hasRedundantPictureCount = false
    /// Writes the elements after `redundant_pic_cnt_present_flag`.
    var trailer: ((inout BitWriter) -> Void)?

    func build() -> NALUnit {
        var writer = BitWriter()
        writer.unsigned(id)
        writer.unsigned(sequenceParameterSetID)
        writer.flag(usesCABAC)
        writer.flag(hasBottomFieldPictureOrder)
        writer.unsigned(sliceGroupCount - 1)
        sliceGroups?(&writer)
        writer.unsigned(3)
        writer.unsigned(1)
        writer.flag(true)
        writer.bits(2, 2)
        writer.signed(-6)
        writer.signed(4)
        writer.signed(-2)
        writer.flag(true)
        writer.flag(false)
        writer.flag(hasRedundantPictureCount)
        trailer?(&writer)
        writer.stop()
        return NALUnit(type: .pictureParameterSet, referenceIDC: 3, rawPayload: writer.bytes)
    }
}
