import H264

/// Converts a sample's length-prefixed NAL units to Annex B in place.
///
/// Length and start code both take four bytes. Parameter sets within the sample are removed: those of its format count,
/// which have been checked. So are access unit delimiters and the ends of sequence and stream, which a single frame
/// does not need and which would let one sample start several pictures.
enum SampleLayout {
    /// More than any frame within the limits needs: the size of a 4096x2304 picture without compression is 14 MB.
    static let maximumSize = 32 << 20
    private static let lengthSize = 4

    /// Converts `sample` in place.
    ///
    /// - Parameter visit: Called with each NAL unit that holds slice data.
    /// - Returns: The size of the result, at the start of `sample`; zero if no NAL unit holds slice data.
    static func convertToAnnexB(
        _ sample: UnsafeMutableRawBufferPointer, _ visit: (_ sliceUnit: UnsafeRawBufferPointer) -> Void
    ) throws(VideoCodingError) -> Int {
        var offset = 0
        var written = 0
        var holdsSlices = false
        while offset < sample.count {
            guard let unit = unit(in: sample, at: offset) else {
                throw .malformedSample(reason: "a NAL unit's length at byte \(offset) exceeds the frame")
            }
            offset += lengthSize + unit.count
            guard let type = type(of: unit), isKept(type) else { continue }
            sample.storeBytes(of: UInt32(1).bigEndian, toByteOffset: written, as: UInt32.self)
            let target = UnsafeMutableRawBufferPointer(
                rebasing: sample[(written + lengthSize)..<(written + lengthSize + unit.count)])
            // Moved towards the start, or not at all; the two may overlap.
            if UnsafeRawPointer(target.baseAddress) != unit.baseAddress { target.copyMemory(from: unit) }
            written += lengthSize + unit.count
            guard type.isVCL else { continue }
            holdsSlices = true
            visit(UnsafeRawBufferPointer(target))
        }
        return holdsSlices ? written : 0
    }

    private static func unit(in sample: UnsafeMutableRawBufferPointer, at offset: Int) -> UnsafeRawBufferPointer? {
        guard sample.count - offset >= lengthSize else { return nil }
        let length = Int(UInt32(bigEndian: sample.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        guard sample.count - offset - lengthSize >= length else { return nil }
        let start = offset + lengthSize
        return UnsafeRawBufferPointer(rebasing: sample[start..<(start + length)])
    }

    private static func type(of unit: UnsafeRawBufferPointer) -> NALUnitType? {
        unit.isEmpty ? nil : NALUnitType(rawValue: unit[0] & 0x1F)
    }

    private static func isKept(_ type: NALUnitType) -> Bool {
        switch type {
        case .sequenceParameterSet, .pictureParameterSet, .sequenceParameterSetExtension, .subsetSequenceParameterSet,
            .accessUnitDelimiter, .endOfSequence, .endOfStream, .fillerData:
            false
        default:
            true
        }
    }
}
