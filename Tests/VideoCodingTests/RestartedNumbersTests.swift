import H264
import H264Fixtures
import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

/// Streams in which the numbers of pictures begin again without an IDR picture (`memory_management_control_operation`
/// 5).
@Suite struct RestartedNumbersTests {
    /// Twelve frames; the numbers begin again behind the one at index 5.
    private func frames() throws -> [SampleBuffer] {
        var stream = try RawPictureStream()
        return (UInt32(0)..<12).map { index in
            let order: UInt32 = index < 6 ? index : index - 5
            return stream.frame(10, order: 2 * order, isIDR: index == 0, restartsNumbers: index == 5)
        }
    }

    @Test("no reference seems to be missing, and one that is missing is found")
    func gap() throws {
        let samples = try frames()
        func gaps(without number: Int?) -> [Int] {
            let pipeline = DecodingPipeline(findsGaps: true)
            return samples.indices.filter { index in
                if index != number { pipeline.decode(samples[index]) { _ in } }
                return pipeline.takeLackOfReference()
            }
        }
        #expect(gaps(without: nil).isEmpty)
        #expect(gaps(without: 5) == [6])
        #expect(gaps(without: 8) == [9])
    }

    @Test("no picture is delayed, although their order counts begin again")
    func order() throws {
        let samples = try frames()
        let decoder = try TestDecoder(format: samples[0].format)
        for sample in samples { #expect(decoder.decode(sample).count == 1) }
    }

    @Test(
        "the operation is found behind all that a slice header may have before it", arguments: [5, 6], [false, true])
    func header(type: Int, hasOperation: Bool) throws {
        let format = try RawPictureStream().format
        let sequence = try #require(format.sequenceParameterSets.first)
        var picture = try #require(format.pictureParameterSets.first)
        picture.hasBottomFieldPictureOrder = true
        picture.hasRedundantPictureCount = true
        picture.usesWeightedPrediction = true
        picture.weightedBipredictionMode = 1
        let isBidirectional = type == 6
        var bits = BitWriter()
        for value in [0, type, 0] { bits.unsigned(value) }
        bits.bits(7, 8)  // frame_num
        bits.bits(4, 8)  // pic_order_cnt_lsb
        bits.unsigned(1)  // delta_pic_order_cnt_bottom
        bits.unsigned(0)  // redundant_pic_cnt
        if isBidirectional { bits.flag(true) }  // direct_spatial_mv_pred_flag
        bits.flag(true)  // num_ref_idx_active_override_flag
        for value in isBidirectional ? [1, 0] : [2] { bits.unsigned(value) }
        bits.flag(true)  // ref_pic_list_modification_flag_l0
        for value in [0, 5, 1, 300, 2, 1, 3] { bits.unsigned(value) }
        if isBidirectional { bits.flag(false) }
        for value in [5, 4] { bits.unsigned(value) }  // denominators of weights
        for _ in 0..<3 {
            bits.flag(true)
            for value in [17, 18] { bits.unsigned(value) }
            bits.flag(true)
            for value in [1, 2, 3, 4] { bits.unsigned(value) }
        }
        bits.flag(true)  // adaptive_ref_pic_marking_mode_flag
        for value in [1, 2, 2, 0, 3, 1, 1, 4, 2, 6, 0] + (hasOperation ? [5, 0] : [0]) { bits.unsigned(value) }
        bits.stop()
        let unit = NALUnit(type: .codedSliceNonIDR, referenceIDC: 1, rawPayload: bits.bytes)
        let bytes = Array(unit.bytes.readableBytesView)
        let slice = bytes.withUnsafeBytes { SliceHeaderPeek($0, sequence: sequence, pictureSets: [picture]) }
        #expect(slice?.restartsNumbers == hasOperation)
        // Cut off anywhere, it is read as far as it goes.
        for count in bytes.indices {
            let slice = bytes.withUnsafeBytes {
                SliceHeaderPeek(
                    UnsafeRawBufferPointer(rebasing: $0[..<count]), sequence: sequence, pictureSets: [picture])
            }
            #expect(slice?.restartsNumbers != true || count > bytes.count - 2)
        }
    }
}
