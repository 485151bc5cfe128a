import H264

/// Turns a sample's length-prefixed NAL units into Annex B while they are copied.
///
/// Length and start code both take four bytes. Parameter sets within the sample are left out: those of its format count,
/// which have been checked. So are access unit delimiters and the ends of sequence and stream, which a lone frame does
/// not need and which would let one sample start several pictures.
enum SampleLayout {
    /// More than any frame within the limits needs: the size of a 4096x2304 picture without compression is 14 MB.
    private static let maximumSize = 32 << 20
    private static let lengthSize = 4

    /// How many bytes the NAL units take in Annex B; zero when none holds slice data.
    static func annexBSize(of sample: UnsafeRawBufferPointer) throws(VideoCodingError) -> Int {
        guard sample.count <= maximumSize else {
            throw .malformedSample(reason: "\(sample.count) bytes; the most is \(maximumSize)")
        }
        var size = 0
        var holdsSlices = false
        var offset = 0
        while offset < sample.count {
            guard let unit = unit(in: sample, at: offset) else {
                throw .malformedSample(reason: "a NAL unit's length at byte \(offset) exceeds the frame")
            }
            offset += lengthSize + unit.count
            guard let type = type(of: unit), isKept(type) else { continue }
            size += lengthSize + unit.count
            holdsSlices = holdsSlices || type.isVCL
        }
        return holdsSlices ? size : 0
    }

    /// Writes what `annexBSize` measured. `target` has exactly that size.
    static func writeAnnexB(of sample: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) {
        var offset = 0
        var written = 0
        while let unit = unit(in: sample, at: offset) {
            offset += lengthSize + unit.count
            guard let type = type(of: unit), isKept(type), written + lengthSize + unit.count <= target.count else {
                continue
            }
            target.storeBytes(of: UInt32(1).bigEndian, toByteOffset: written, as: UInt32.self)
            UnsafeMutableRawBufferPointer(rebasing: target[(written + lengthSize)...]).copyMemory(from: unit)
            written += lengthSize + unit.count
        }
    }

    private static func unit(in sample: UnsafeRawBufferPointer, at offset: Int) -> UnsafeRawBufferPointer? {
        guard sample.count - offset >= lengthSize else { return nil }
        let length = Int(UInt32(bigEndian: sample.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        guard sample.count - offset - lengthSize >= length else { return nil }
        let start = offset + lengthSize
        return UnsafeRawBufferPointer(rebasing: sample[start..<(start + length)])
    }

    private static func type(of unit: UnsafeRawBufferPointer) -> NALUnitType? {
        unit.first.flatMap { NALUnitType(rawValue: $0 & 0x1F) }
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
