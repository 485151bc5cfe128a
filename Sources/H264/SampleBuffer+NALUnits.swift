public import MediaCore

extension SampleBuffer {
    /// Makes a sample of an access unit. SPS and PPS are left out of the data, since `format` has them.
    public init(
        nalUnits: [NALUnit], format: VideoFormatDescription, presentationTime: MediaTime, duration: MediaTime? = nil
    ) {
        self.init(
            data: LengthPrefixed.encode(nalUnits.filter { !$0.isParameterSet }), format: format,
            presentationTime: presentationTime, duration: duration,
            isSync: nalUnits.contains { $0.type == .codedSliceIDR })
    }

    /// The access unit's NAL units in the order in which they are sent; SPS and PPS stand before a sync sample's.
    public func nalUnits() throws(H264ParseError) -> [NALUnit] {
        let units = try LengthPrefixed.nalUnits(in: data)
        guard isSync else { return units }
        let parameterSets = format.parameterSets.compactMap(NALUnit.init)
        // A delimiter comes before everything else in its access unit (H.264 7.4.1.2.3).
        let head = units.prefix { $0.type == .accessUnitDelimiter }
        return head + parameterSets + units.dropFirst(head.count)
    }
}
