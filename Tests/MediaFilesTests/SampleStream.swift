import H264
import MediaCore
import MediaFiles
import NIOCore

/// Makes H.264 streams whose syntax is right as far as files look at it: real parameter sets, real slice headers, and
/// filler for slice data.
enum SampleStream {
    /// Baseline parameter sets of a picture of `width` by `height` macroblocks.
    static func parameterSets(width: Int, height: Int) -> [NALUnit] {
        var sps = BitWriter()
        sps.bits(66, 8)
        sps.bits(0xC0, 8)
        sps.bits(30, 8)
        sps.unsigned(0)  // id
        sps.unsigned(0)  // log2_max_frame_num_minus4
        sps.unsigned(2)  // pic_order_cnt_type
        sps.unsigned(1)  // max_num_ref_frames
        sps.bits(0, 1)
        sps.unsigned(width - 1)
        sps.unsigned(height - 1)
        sps.bits(0b1_1_0_0, 4)  // frame_mbs_only, direct_8x8_inference, no cropping, no VUI
        var pps = BitWriter()
        pps.unsigned(0)
        pps.unsigned(0)
        pps.bits(0, 2)
        pps.unsigned(0)
        pps.unsigned(0)
        pps.unsigned(0)
        pps.bits(0, 3)
        pps.unsigned(0)
        pps.unsigned(0)
        pps.unsigned(0)
        pps.bits(0, 3)
        sps.stop()
        pps.stop()
        return [
            NALUnit(type: .sequenceParameterSet, referenceIDC: 3, rawPayload: sps.bytes),
            NALUnit(type: .pictureParameterSet, referenceIDC: 3, rawPayload: pps.bytes),
        ]
    }

    /// A stream at 30 frames a second with an IDR picture every tenth frame.
    static func make(
        count: Int, width: Int = 40, height: Int = 22, startingAt start: Int = 0
    ) throws -> [SampleBuffer] {
        let format = try VideoFormatDescription(
            h264ParameterSets: parameterSets(width: width, height: height).map(\.bytes))
        return (0..<count).map { index in
            let isSync = index % 10 == 0
            var slice = BitWriter()
            slice.unsigned(0)  // first_mb_in_slice
            slice.unsigned(isSync ? 7 : 5)
            slice.unsigned(0)
            slice.bits(index % 10, 4)  // frame_num
            if isSync { slice.unsigned(index / 10 % 2) }  // idr_pic_id
            slice.stop()
            let filler = (0..<(100 + index)).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ index) | 1 }
            let unit = NALUnit(
                type: isSync ? .codedSliceIDR : .codedSliceNonIDR, referenceIDC: 2,
                rawPayload: slice.bytes + filler)
            return SampleBuffer(
                data: BlockBuffer(LengthPrefixed.encode([unit])), format: format,
                presentationTime: MediaTime(value: Int64(start + index) * 3000, timescale: 90_000),
                duration: MediaTime(value: 3000, timescale: 90_000), isSync: isSync)
        }
    }

    @discardableResult
    static func write(
        _ samples: [SampleBuffer], to path: String, layout: MovieWriter.Layout = .indexAtEnd
    ) throws -> MovieWriter {
        let writer = try MovieWriter(path: path, video: samples[0].format, layout: layout)
        for sample in samples { try writer.append(sample) }
        try writer.finish()
        return writer
    }
}
