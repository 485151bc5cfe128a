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
        var sps = BitWriter()
        for byte in [66, 0xC0, 51] { sps.bits(byte, 8) }
        // Id, 16 frame numbers, pictures in decoding order, one reference frame.
        for value in [0, 0, 2, 1] { sps.unsigned(value) }
        sps.bits(0, 1)
        sps.unsigned(dimensions.width / 16 - 1)
        sps.unsigned(dimensions.height / 16 - 1)
        // Frames only, direct_8x8_inference, no cropping, no VUI.
        sps.bits(0b1100, 4)
        sps.stop()
        var pps = BitWriter()
        for value in [0, 0] { pps.unsigned(value) }
        pps.bits(0, 2)
        for value in [0, 0, 0] { pps.unsigned(value) }
        pps.bits(0, 3)
        for value in [0, 0, 0] { pps.unsigned(value) }
        // With deblocking control, which switches it off.
        pps.bits(0b100, 3)
        pps.stop()
        format = try VideoFormatDescription(h264ParameterSets: [
            NALUnit(type: .sequenceParameterSet, referenceIDC: 3, rawPayload: sps.bytes).bytes,
            NALUnit(type: .pictureParameterSet, referenceIDC: 3, rawPayload: pps.bytes).bytes,
        ])
    }

    /// The next picture; the first is an IDR picture.
    ///
    /// - Parameter filler: The number of bytes behind the picture that mean nothing.
    mutating func next(filler: Int = 0) -> EncodedFrame {
        let isIDR = count == 0
        var bits = BitWriter()
        bits.unsigned(0)
        bits.unsigned(isIDR ? 7 : 5)
        bits.unsigned(0)
        bits.bits(count & 15, 4)
        if isIDR {
            bits.unsigned(0)
            bits.bits(0, 2)
        } else {
            bits.bits(0, 3)
        }
        bits.unsigned(0)
        bits.unsigned(1)
        if isIDR {
            // Intra16x16, predicted from the mean, without coefficients: a byte for each macroblock.
            for _ in 0..<macroblocks { bits.bits(0b0010_0111, 8) }
        } else {
            bits.unsigned(macroblocks)
        }
        bits.stop()
        var units = [
            NALUnit(type: isIDR ? .codedSliceIDR : .codedSliceNonIDR, referenceIDC: 3, rawPayload: bits.bytes)
        ]
        if filler > 0 {
            let bytes = [UInt8](repeating: 0xff, count: filler)
            units.append(NALUnit(type: .fillerData, referenceIDC: 0, rawPayload: bytes))
        }
        defer { count += 1 }
        return EncodedFrame(
            sample: SampleBuffer(
                nalUnits: units, format: format, presentationTime: MediaTime(value: Int64(count), timescale: 60)))
    }
}
