import H264
import MediaCore
import MediaFiles
import NIOCore

/// Makes H.264 streams whose syntax is right as far as files look at it: real parameter sets, real slice headers, and
/// filler for slice data.
enum SampleStream {
    /// Bits, most significant first.
    struct BitWriter {
        private(set) var bytes: [UInt8] = []
        private var bitCount = 0

        mutating func write(_ value: UInt32, bits: Int) {
            for bit in (0..<bits).reversed() {
                if bitCount % 8 == 0 { bytes.append(0) }
                bytes[bytes.count - 1] |= UInt8(value >> UInt32(bit) & 1) << UInt8(7 - bitCount % 8)
                bitCount += 1
            }
        }

        /// `ue(v)` of H.264 9.1.
        mutating func writeExpGolomb(_ value: UInt32) {
            let length = 32 - (value + 1).leadingZeroBitCount
            write(0, bits: length - 1)
            write(value + 1, bits: length)
        }

        mutating func finish() -> [UInt8] {
            write(1, bits: 1)
            return bytes
        }
    }

    /// Baseline parameter sets of a picture of `width` by `height` macroblocks.
    static func parameterSets(width: Int, height: Int) -> [NALUnit] {
        var sps = BitWriter()
        sps.write(66, bits: 8)
        sps.write(0xC0, bits: 8)
        sps.write(30, bits: 8)
        sps.writeExpGolomb(0)  // id
        sps.writeExpGolomb(0)  // log2_max_frame_num_minus4
        sps.writeExpGolomb(2)  // pic_order_cnt_type
        sps.writeExpGolomb(1)  // max_num_ref_frames
        sps.write(0, bits: 1)
        sps.writeExpGolomb(UInt32(width - 1))
        sps.writeExpGolomb(UInt32(height - 1))
        sps.write(0b1_1_0_0, bits: 4)  // frame_mbs_only, direct_8x8_inference, no cropping, no VUI
        var pps = BitWriter()
        pps.writeExpGolomb(0)
        pps.writeExpGolomb(0)
        pps.write(0, bits: 2)
        pps.writeExpGolomb(0)
        pps.writeExpGolomb(0)
        pps.writeExpGolomb(0)
        pps.write(0, bits: 3)
        pps.writeExpGolomb(0)
        pps.writeExpGolomb(0)
        pps.writeExpGolomb(0)
        pps.write(0, bits: 3)
        return [
            NALUnit(type: .sequenceParameterSet, referenceIDC: 3, rawPayload: sps.finish()),
            NALUnit(type: .pictureParameterSet, referenceIDC: 3, rawPayload: pps.finish()),
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
            slice.writeExpGolomb(0)  // first_mb_in_slice
            slice.writeExpGolomb(isSync ? 7 : 5)
            slice.writeExpGolomb(0)
            slice.write(UInt32(index % 10), bits: 4)  // frame_num
            if isSync { slice.writeExpGolomb(UInt32(index / 10 % 2)) }  // idr_pic_id
            let filler = (0..<(100 + index)).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ index) | 1 }
            let unit = NALUnit(
                type: isSync ? .codedSliceIDR : .codedSliceNonIDR, referenceIDC: 2,
                rawPayload: slice.finish() + filler)
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
