import H264
package import MediaCore

/// Writes H.264 by hand, of flat pictures without compression (I_PCM): any order, frames or fields, and an SPS of the
/// Main profile that says nothing of reordering, unless something else is asked for.
package struct RawPictureStream {
    package static let dimensions = VideoDimensions(width: 32, height: 32)

    package let format: VideoFormatDescription
    private let isFrameOnly: Bool
    private var frameNumber: UInt32 = 0
    private var previousIsReference = false
    private var idrCount: UInt32 = 0
    private var count = 0

    /// - Parameter reorderFrames: `max_num_reorder_frames`; nil for an SPS without `bitstream_restriction`.
    package init(
        isFrameOnly: Bool = true, referenceFrames: UInt32 = 4, profileIDC: UInt32 = 77, reorderFrames: UInt32? = nil
    ) throws {
        self.isFrameOnly = isFrameOnly
        var sps = TestBits()
        sps.append(profileIDC, count: 8)
        sps.append(0, count: 8)
        sps.append(30, count: 8)
        for value in [0, 4, 0, 4, referenceFrames] as [UInt32] { sps.append(golomb: value) }
        sps.append(0, count: 1)  // no gaps in frame_num
        sps.append(golomb: 1)
        sps.append(golomb: isFrameOnly ? 1 : 0)
        sps.append(isFrameOnly ? 1 : 0, count: 1)
        if !isFrameOnly { sps.append(0, count: 1) }  // not macroblock-adaptive
        sps.append(0b10, count: 2)  // direct_8x8_inference, no cropping
        sps.append(reorderFrames == nil ? 0 : 1, count: 1)  // VUI
        if let reorderFrames {
            sps.append(0b11, count: 10)  // nothing but a bitstream_restriction, with vectors over picture boundaries
            for value in [0, 0, 16, 16, reorderFrames, referenceFrames] as [UInt32] { sps.append(golomb: value) }
        }
        sps.append(1, count: 1)  // stop bit
        var pps = TestBits()
        for value in [0, 0] as [UInt32] { pps.append(golomb: value) }
        pps.append(0, count: 2)  // CAVLC, no bottom_field_pic_order
        for value in [0, 0, 0] as [UInt32] { pps.append(golomb: value) }
        pps.append(0, count: 3)  // no weighted prediction
        for value in [0, 0, 0] as [UInt32] { pps.append(golomb: value) }
        pps.append(0b1001, count: 4)  // deblocking control, stop bit
        format = try VideoFormatDescription(h264ParameterSets: [
            NALUnit(type: .sequenceParameterSet, referenceIDC: 3, rawPayload: sps.bytes).bytes,
            NALUnit(type: .pictureParameterSet, referenceIDC: 3, rawPayload: pps.bytes).bytes,
        ])
    }

    /// The next frame in decoding order: a flat picture of luma `luma` at picture order count `order`.
    package mutating func frame(
        _ luma: UInt8, order: UInt32, isIDR: Bool = false, isReference: Bool = true
    ) -> SampleBuffer {
        beginPicture(isIDR: isIDR, isReference: isReference)
        return sample(
            [slice(luma, order: order, isIDR: isIDR, isReference: isReference, isBottomField: nil)], order: order)
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
        _ luma: UInt8, order: UInt32, isIDR: Bool, isReference: Bool, isBottomField: Bool?
    ) -> NALUnit {
        var bits = TestBits()
        bits.append(golomb: 0)
        bits.append(golomb: 7)  // I slices only
        bits.append(golomb: 0)
        bits.append(frameNumber, count: 8)
        if !isFrameOnly {
            bits.append(isBottomField == nil ? 0 : 1, count: 1)
            if let isBottomField { bits.append(isBottomField ? 1 : 0, count: 1) }
        }
        if isIDR { bits.append(golomb: idrCount & 1) }
        bits.append(order & 0xFF, count: 8)
        if isIDR { bits.append(0, count: 2) } else if isReference { bits.append(0, count: 1) }
        bits.append(golomb: 0)  // slice_qp_delta
        bits.append(golomb: 1)  // no deblocking
        let rows = isBottomField == nil ? 2 : 1
        for _ in 0..<(2 * rows) {
            bits.append(golomb: 25)  // I_PCM
            bits.align()
            for _ in 0..<256 { bits.append(UInt32(luma), count: 8) }
            for _ in 0..<128 { bits.append(128, count: 8) }
        }
        bits.append(1, count: 1)
        return NALUnit(
            type: isIDR ? .codedSliceIDR : .codedSliceNonIDR, referenceIDC: isReference ? 1 : 0, rawPayload: bits.bytes)
    }
}

/// Bits as they are written into a parameter set or a slice.
package struct TestBits {
    package private(set) var bytes: [UInt8] = []
    private var count = 0

    package init() {}

    package mutating func append(_ value: UInt32, count bits: Int) {
        for index in stride(from: bits - 1, through: 0, by: -1) {
            if count % 8 == 0 { bytes.append(0) }
            bytes[count / 8] |= UInt8(value >> UInt32(index) & 1) << UInt8(7 - count % 8)
            count += 1
        }
    }

    package mutating func append(golomb value: UInt32) {
        let length = 32 - (value + 1).leadingZeroBitCount
        append(0, count: length - 1)
        append(value + 1, count: length)
    }

    /// Appends zeros up to the next whole byte.
    package mutating func align() {
        count = bytes.count * 8
    }
}

extension PixelBuffer {
    /// The luma of one sample.
    package func luma(x: Int, y: Int) -> UInt8 {
        withPlane(0) { bytes, stride in bytes[y * stride + x] }
    }
}
