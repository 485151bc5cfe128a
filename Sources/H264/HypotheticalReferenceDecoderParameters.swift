/// Buffer model parameters of a stream: `hrd_parameters()` (H.264 E.1.2).
public struct HypotheticalReferenceDecoderParameters: Hashable, Sendable {
    /// One schedule by which the stream may be delivered.
    public struct Schedule: Hashable, Sendable {
        /// `bit_rate_value_minus1` + 1, to be scaled by 2^(6 + `bit_rate_scale`) bits per second.
        public var bitRateValue: Int
        /// `cpb_size_value_minus1` + 1, to be scaled by 2^(4 + `cpb_size_scale`) bits.
        public var bufferSizeValue: Int
        public var isConstantBitRate: Bool
    }

    /// `bit_rate_scale`.
    public var bitRateScale: UInt8
    /// `cpb_size_scale`.
    public var bufferSizeScale: UInt8
    public var schedules: [Schedule]
    /// Length in bits of `initial_cpb_removal_delay`.
    public var initialRemovalDelayLength: Int
    /// Length in bits of `cpb_removal_delay`.
    public var removalDelayLength: Int
    /// Length in bits of `dpb_output_delay`.
    public var outputDelayLength: Int
    /// Length in bits of `time_offset`.
    public var timeOffsetLength: Int

    init(parsing reader: inout BitReader) throws(H264ParseError) {
        let count = try reader.unsigned("cpb_cnt_minus1", in: 0...31) + 1
        bitRateScale = UInt8(try reader.bits(4, "bit_rate_scale"))
        bufferSizeScale = UInt8(try reader.bits(4, "cpb_size_scale"))
        schedules = []
        for _ in 0..<count {
            let bitRate = try reader.unsigned("bit_rate_value_minus1") + 1
            let bufferSize = try reader.unsigned("cpb_size_value_minus1") + 1
            let isConstant = try reader.flag("cbr_flag")
            schedules.append(
                Schedule(bitRateValue: bitRate, bufferSizeValue: bufferSize, isConstantBitRate: isConstant))
        }
        initialRemovalDelayLength = Int(try reader.bits(5, "initial_cpb_removal_delay_length_minus1")) + 1
        removalDelayLength = Int(try reader.bits(5, "cpb_removal_delay_length_minus1")) + 1
        outputDelayLength = Int(try reader.bits(5, "dpb_output_delay_length_minus1")) + 1
        timeOffsetLength = Int(try reader.bits(5, "time_offset_length"))
    }
}
