import H264
import MediaCore
import NIOCore
import VideoCoding

/// H.264 written by hand: a grey IDR picture, and then pictures of skipped macroblocks alone, of a few bytes each.
struct SkippedPictures {
    let format: VideoFormatDescription
    private let macroblocks: Int
    private var count = 0

    init(dimensions: VideoDimensions) throws {
        macroblocks = dimensions.area / 256
        var sps = HandwrittenBits()
        for byte in [66, 0xC0, 51] { sps.append(byte, count: 8) }
        // Id, 16 frame numbers, pictures in decoding order, one reference frame.
        for value in [0, 0, 2, 1] { sps.append(golomb: value) }
        sps.append(0, count: 1)
        sps.append(golomb: dimensions.width / 16 - 1)
        sps.append(golomb: dimensions.height / 16 - 1)
        // Frames only, direct_8x8_inference, no cropping, no VUI.
        sps.append(0b1100, count: 4)
        sps.stop()
        var pps = HandwrittenBits()
        for value in [0, 0] { pps.append(golomb: value) }
        pps.append(0, count: 2)
        for value in [0, 0, 0] { pps.append(golomb: value) }
        pps.append(0, count: 3)
        for value in [0, 0, 0] { pps.append(golomb: value) }
        // With deblocking control, which switches it off.
        pps.append(0b100, count: 3)
        pps.stop()
        format = try VideoFormatDescription(h264ParameterSets: [
            NALUnit(type: .sequenceParameterSet, referenceIDC: 3, rawPayload: sps.bytes).bytes,
            NALUnit(type: .pictureParameterSet, referenceIDC: 3, rawPayload: pps.bytes).bytes,
        ])
    }

    /// The next picture; the first is an IDR picture.
    mutating func next() -> EncodedFrame {
        let isIDR = count == 0
        var bits = HandwrittenBits()
        bits.append(golomb: 0)
        bits.append(golomb: isIDR ? 7 : 5)
        bits.append(golomb: 0)
        bits.append(count & 15, count: 4)
        if isIDR {
            bits.append(golomb: 0)
            bits.append(0, count: 2)
        } else {
            bits.append(0, count: 3)
        }
        bits.append(golomb: 0)
        bits.append(golomb: 1)
        if isIDR {
            // Intra16x16, predicted from the mean, without coefficients: a byte for each macroblock.
            for _ in 0..<macroblocks { bits.append(0b0010_0111, count: 8) }
        } else {
            bits.append(golomb: macroblocks)
        }
        bits.stop()
        let unit = NALUnit(
            type: isIDR ? .codedSliceIDR : .codedSliceNonIDR, referenceIDC: 3, rawPayload: bits.bytes)
        defer { count += 1 }
        return EncodedFrame(
            sample: SampleBuffer(
                nalUnits: [unit], format: format, presentationTime: MediaTime(value: Int64(count), timescale: 60)))
    }
}

private struct HandwrittenBits {
    private(set) var bytes: [UInt8] = []
    private var count = 0

    mutating func append(_ value: Int, count bits: Int) {
        for index in (0..<bits).reversed() {
            if count % 8 == 0 { bytes.append(0) }
            bytes[count / 8] |= UInt8(value >> index & 1) << UInt8(7 - count % 8)
            count += 1
        }
    }

    mutating func append(golomb value: Int) {
        let length = Int.bitWidth - (value + 1).leadingZeroBitCount
        append(0, count: length - 1)
        append(value + 1, count: length)
    }

    mutating func stop() { append(1, count: 1) }
}
