public import NIOCore

/// The properties of an access unit that a single RTP payload shows (RFC 6184, modes 0 and 1).
public struct H264PayloadPeek: Hashable, Sendable {
    /// True if it has a slice of an IDR picture, or a fragment of one.
    public private(set) var isIDR = false
    /// True if it has an SPS or a PPS.
    public private(set) var hasParameterSets = false
    /// True if the first slice of a picture begins in it.
    public private(set) var beginsPicture = false
    /// True if it has slices, and no other picture refers to any of them (`nal_ref_idc` 0).
    public private(set) var isDispensable = false

    private var hasSlices = false

    /// Reads a payload; a malformed one has no properties.
    public init(_ payload: ByteBuffer) {
        guard let whole = NALUnit(payload), !whole.forbiddenZeroBit else { return }
        switch whole.type {
        case .fragmentationFUA: lookAtFragment(payload, referenceIDC: whole.referenceIDC)
        case .aggregationSTAPA: lookAtAggregate(payload)
        default: look(at: whole.type, referenceIDC: whole.referenceIDC, beginsPicture: whole.beginsPicture)
        }
    }

    private mutating func look(at type: NALUnitType, referenceIDC: UInt8, beginsPicture begins: Bool) {
        if type == .sequenceParameterSet || type == .pictureParameterSet { hasParameterSets = true }
        guard type.isVCL else { return }
        isDispensable = (isDispensable || !hasSlices) && referenceIDC == 0
        hasSlices = true
        isIDR = isIDR || type == .codedSliceIDR
        beginsPicture = beginsPicture || begins
    }

    private mutating func lookAtFragment(_ payload: ByteBuffer, referenceIDC: UInt8) {
        guard let byte = payload.getInteger(at: payload.readerIndex + 1, as: UInt8.self) else { return }
        let header = FragmentHeader(rawValue: byte)
        // Behind the two bytes of a first fragment lies `first_mb_in_slice`, `ue(v)`: zero is a single set bit.
        let first = payload.getInteger(at: payload.readerIndex + 2, as: UInt8.self) ?? 0
        look(at: header.type, referenceIDC: referenceIDC, beginsPicture: header.isStart && first & 0x80 != 0)
    }

    private mutating func lookAtAggregate(_ payload: ByteBuffer) {
        var rest = payload
        rest.moveReaderIndex(forwardBy: 1)
        while rest.readableBytes > 0 {
            guard let size = rest.readInteger(as: UInt16.self), let slice = rest.readSlice(length: Int(size)),
                let unit = NALUnit(slice)
            else { return }
            look(at: unit.type, referenceIDC: unit.referenceIDC, beginsPicture: unit.beginsPicture)
        }
    }

    /// Returns the number of NAL units in a payload, a fragment counting as one. A parameter set counts as many: the
    /// receiver parses each one that has changed.
    public static func work(in payload: ByteBuffer) -> Int {
        guard let whole = NALUnit(payload) else { return 1 }
        guard whole.type == .aggregationSTAPA else {
            let byte = payload.getInteger(at: payload.readerIndex + 1, as: UInt8.self)
            let isFragment = whole.type == .fragmentationFUA
            return work(in: isFragment ? FragmentHeader(rawValue: byte ?? 0).type : whole.type)
        }
        var sum = 0
        var index = payload.readerIndex + 1
        while let size = payload.getInteger(at: index, as: UInt16.self) {
            sum += work(in: NALUnitType(rawValue: (payload.getInteger(at: index + 2) ?? 0) & 0x1F) ?? .unspecified)
            index += 2 + Int(size)
        }
        return sum
    }

    private static func work(in type: NALUnitType) -> Int { type.isParameterSet ? 32 : 1 }
}
