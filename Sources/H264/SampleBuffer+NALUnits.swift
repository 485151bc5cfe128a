public import MediaCore

extension SampleBuffer {
    /// Makes a sample of an access unit. SPS and PPS are left out of the data, since `format` has them.
    public init(
        nalUnits: [NALUnit], format: VideoFormatDescription, presentationTime: MediaTime, decodeTime: MediaTime? = nil,
        duration: MediaTime? = nil
    ) {
        self.init(
            data: BlockBuffer(LengthPrefixed.encode(nalUnits.filter { !$0.isParameterSet })), format: format,
            presentationTime: presentationTime, decodeTime: decodeTime, duration: duration,
            isSync: nalUnits.contains { $0.type == .codedSliceIDR },
            dependency: FrameDependency(isDependedOn: nalUnits.contains { $0.isVCL && $0.referenceIDC > 0 }))
    }

    /// The access unit's NAL units in the order in which they are sent; SPS and PPS stand before a sync sample's.
    public func nalUnits() throws(H264ParseError) -> [NALUnit] {
        let units = try LengthPrefixed.nalUnits(in: data.contiguous())
        guard isSync else { return units }
        let parameterSets = format.parameterSets.compactMap(NALUnit.init)
        // A delimiter comes before everything else in its access unit (H.264 7.4.1.2.3).
        let head = units.prefix { $0.type == .accessUnitDelimiter }
        return head + parameterSets + units.dropFirst(head.count)
    }
}
