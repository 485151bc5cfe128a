import H264
package import MediaCore

/// Writes H.264 by hand, of flat pictures without compression (I_PCM): any order, frames or fields, and an SPS of the
/// Main profile that says nothing of reordering, unless something else is asked for.
package struct RawPictureStream {
    package static let dimensions = VideoDimensions(width: 32, height: 32)

    package let format: VideoFormatDescription
    private let isFrameOnly: Bool
    private var frameNumber = 0
    private var previousIsReference = false
    private var idrCount = 0
    private var count = 0

    /// - Parameters:
    ///   - reorderFrames: `max_num_reorder_frames`; nil for an SPS without `bitstream_restriction`.
    ///   - cropping: Left, right, top and bottom offsets in pairs of samples; nil for none.
    package init(
        isFrameOnly: Bool = true, referenceFrames: Int = 4, profileIDC: Int = 77, reorderFrames: Int? = nil,
        cropping: [Int]? = nil
    ) throws {
        self.isFrameOnly = isFrameOnly
        var sps = BitWriter()
        sps.bits(profileIDC, 8)
        sps.bits(0, 8)
        sps.bits(30, 8)
        for value in [0, 4, 0, 4, referenceFrames] { sps.unsigned(value) }
        sps.bits(0, 1)  // no gaps in frame_num
        sps.unsigned(1)
        sps.unsigned(isFrameOnly ? 1 : 0)
        sps.bits(isFrameOnly ? 1 : 0, 1)
        if !isFrameOnly { sps.bits(0, 1) }  // not macroblock-adaptive
        sps.bits(1, 1)  // direct_8x8_inference
        sps.bits(cropping == nil ? 0 : 1, 1)
        for offset in cropping ?? [] { sps.unsigned(offset) }
        sps.bits(reorderFrames == nil ? 0 : 1, 1)  // VUI
        if let reorderFrames {
            sps.bits(0b11, 10)  // nothing but a bitstream_restriction, with vectors over picture boundaries
            for value in [0, 0, 16, 16, reorderFrames, referenceFrames] { sps.unsigned(value) }
        }
        sps.bits(1, 1)  // stop bit
        var pps = BitWriter()
        for value in [0, 0] { pps.unsigned(value) }
        pps.bits(0, 2)  // CAVLC, no bottom_field_pic_order
        for value in [0, 0, 0] { pps.unsigned(value) }
        pps.bits(0, 3)  // no weighted prediction
        for value in [0, 0, 0] { pps.unsigned(value) }
        pps.bits(0b1001, 4)  // deblocking control, stop bit
        format = try VideoFormatDescription(h264ParameterSets: [
            NALUnit(type: .sequenceParameterSet, referenceIDC: 3, rawPayload: sps.bytes).bytes,
            NALUnit(type: .pictureParameterSet, referenceIDC: 3, rawPayload: pps.bytes).bytes,
        ])
    }

    /// The next frame in decoding order: a flat picture of luma `luma` at picture order count `order`.
    ///
    /// - Parameter restartsNumbers: True for a reference with `memory_management_control_operation` 5.
    package mutating func frame(
        _ luma: UInt8, order: UInt32, isIDR: Bool = false, isReference: Bool = true, restartsNumbers: Bool = false
    ) -> SampleBuffer {
        beginPicture(isIDR: isIDR, isReference: isReference)
        defer { if restartsNumbers { frameNumber = 0 } }
        return sample(
            [
                slice(
                    luma, order: order, isIDR: isIDR, isReference: isReference, isBottomField: nil,
                    restartsNumbers: restartsNumbers)
            ], order: order)
    }

    /// The next frame in decoding order as two fields of flat luma: one sample of both, or one each.
    package mutating func fields(
        top: UInt8, bottom: UInt8, order: UInt32, isIDR: Bool = false, apart: Bool
    ) -> [SampleBuffer] {
        beginPicture(isIDR: isIDR, isReference: true)
        let first = slice(top, order: order, isIDR: isIDR, isReference: true, isBottomField: false)
        let second = slice(bottom, order: order + 1, isIDR: false, isReference: true, isBottomField: true)
        return apart
            ? [sample([first], order: order), sample([second], order: order + 1)]
            : [sample([first, second], order: order)]
    }

    /// Leaves out a frame, as if it had been lost.
    package mutating func skip(isReference: Bool) {
        beginPicture(isIDR: false, isReference: isReference)
    }

    private mutating func beginPicture(isIDR: Bool, isReference: Bool) {
        if isIDR {
            frameNumber = 0
            idrCount += 1
        } else if previousIsReference {
            frameNumber = (frameNumber + 1) & 0xFF
        }
        previousIsReference = isReference
    }

    private func sample(_ units: [NALUnit], order: UInt32) -> SampleBuffer {
        SampleBuffer(
            nalUnits: units, format: format,
            presentationTime: MediaTime(value: Int64(order) * 3000, timescale: 90_000))
    }

    private func slice(
        _ luma: UInt8, order: UInt32, isIDR: Bool, isReference: Bool, isBottomField: Bool?,
        restartsNumbers: Bool = false
    ) -> NALUnit {
        var bits = BitWriter()
        bits.unsigned(0)
        bits.unsigned(7)  // I slices only
        bits.unsigned(0)
        bits.bits(frameNumber, 8)
        if !isFrameOnly {
            bits.bits(isBottomField == nil ? 0 : 1, 1)
            if let isBottomField { bits.bits(isBottomField ? 1 : 0, 1) }
        }
        if isIDR { bits.unsigned(idrCount & 1) }
        bits.bits(Int(order & 0xFF), 8)
        if isIDR { bits.bits(0, 2) } else if isReference { bits.bits(restartsNumbers ? 1 : 0, 1) }
        if restartsNumbers { for operation in [5, 0] { bits.unsigned(operation) } }
        bits.unsigned(0)  // slice_qp_delta
        bits.unsigned(1)  // no deblocking
        let rows = isBottomField == nil ? 2 : 1
        for _ in 0..<(2 * rows) {
            bits.unsigned(25)  // I_PCM
            bits.align()
            for _ in 0..<256 { bits.bits(Int(luma), 8) }
            for _ in 0..<128 { bits.bits(128, 8) }
        }
        bits.bits(1, 1)
        return NALUnit(
            type: isIDR ? .codedSliceIDR : .codedSliceNonIDR, referenceIDC: isReference ? 1 : 0, rawPayload: bits.bytes)
    }
}

extension PixelBuffer {
    /// The luma of one sample.
    package func luma(x: Int, y: Int) -> UInt8 {
        withPlane(0) { bytes, stride in bytes[y * stride + x] }
    }
}
