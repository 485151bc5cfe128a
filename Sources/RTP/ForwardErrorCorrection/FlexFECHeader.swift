public import NIOCore

/// The header of a FlexFEC packet's payload, behind which the parity of what the protected packets have behind their
/// fixed headers lies (draft-ietf-payload-flexible-fec-scheme-03, section 4.2.2).
///
/// As browsers speak it: one protected source, a flexible mask (F = 0), no retransmissions (R = 0).
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///      +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |R|F|P|X|  CC   |M| PT recovery |        length recovery        |
///     |                          TS recovery                          |
///     |   SSRCCount   |                    reserved                   |
///     |                             SSRC_i                            |
///     |           SN base_i           |k|          Mask [0-14]        |
///     |k|                   Mask [15-45] (optional)                   |
///     |k|                   Mask [46-108] (optional)                  |
///     |                                                               |
public struct FlexFECHeader: Hashable, Sendable {
    /// P, X, CC, M and PT of the protected packets, by exclusive or; the two highest bits are not of them.
    public var flags: UInt16
    /// The lengths behind the fixed headers, by exclusive or.
    public var length: UInt16
    /// The timestamps, by exclusive or.
    public var timestamp: UInt32
    /// The source of the protected packets.
    public var ssrc: UInt32
    /// The sequence number of the mask's first bit.
    public var base: UInt16
    public var mask: FlexFECMask

    /// Bytes of the header up to the mask's second part.
    public static let minimumSize = 20
    /// The flags that belong to the protected packets' headers: all but R and F.
    static let flagMask: UInt16 = 0x3FFF

    public init(flags: UInt16, length: UInt16, timestamp: UInt32, ssrc: UInt32, base: UInt16, mask: FlexFECMask) {
        self.flags = flags & Self.flagMask
        self.length = length
        self.timestamp = timestamp
        self.ssrc = ssrc
        self.base = base
        self.mask = mask
    }

    /// The size of the header for a mask with this span of sequence numbers.
    static func size(span: Int) -> Int {
        span <= 15 ? minimumSize : span <= 46 ? minimumSize + 4 : minimumSize + 12
    }

    /// Bytes of this header.
    public var encodedSize: Int { Self.size(span: mask.span) }

    /// Reads the header from the front of a FlexFEC packet's payload.
    public init(reading payload: inout ByteBuffer) throws(RTPError) {
        let structure: StaticString = "FlexFEC header"
        let available = payload.readableBytes
        guard
            let (flags, length, timestamp, count, ssrc, base, part) = payload.readMultipleIntegers(
                as: (UInt16, UInt16, UInt32, UInt32, UInt32, UInt16, UInt16).self)
        else { throw .truncated(structure: "\(structure)", needed: Self.minimumSize, available: available) }
        guard flags & ~Self.flagMask == 0 else {
            throw .malformed(
                structure: "\(structure)", reason: "its R or F bit is set: only flexible masks are supported")
        }
        guard count >> 24 == 1 else {
            throw .malformed(structure: "\(structure)", reason: "it protects \(count >> 24) sources instead of one")
        }
        var mask = FlexFECMask()
        mask.insert(bits: UInt64(part), width: 15, at: 0)
        if part & 0x8000 == 0 {
            let part = try payload.read(UInt32.self, of: structure)
            mask.insert(bits: UInt64(part), width: 31, at: 15)
            if part & 0x8000_0000 == 0 {
                let part = try payload.read(UInt64.self, of: structure)
                guard part & 1 << 63 != 0 else {
                    throw .malformed(structure: "\(structure)", reason: "the third part of its mask is not the last")
                }
                mask.insert(bits: part, width: 63, at: 46)
            }
        }
        guard !mask.isEmpty else { throw .malformed(structure: "\(structure)", reason: "it protects no packet") }
        self.init(flags: flags, length: length, timestamp: timestamp, ssrc: ssrc, base: base, mask: mask)
    }

    /// Appends the header's bytes to `buffer`.
    public func encode(into buffer: inout ByteBuffer) {
        let span = mask.span
        buffer.writeMultipleIntegers(
            flags, length, timestamp, 1 << 24 as UInt32, ssrc, base,
            UInt16(truncatingIfNeeded: mask.bits(width: 15, at: 0)) | (span <= 15 ? 0x8000 : 0))
        guard span > 15 else { return }
        buffer.writeInteger(UInt32(truncatingIfNeeded: mask.bits(width: 31, at: 15)) | (span <= 46 ? 0x8000_0000 : 0))
        guard span > 46 else { return }
        buffer.writeInteger(mask.bits(width: 63, at: 46) | 1 << 63)
    }
}

extension FlexFECMask {
    /// Adds the lowest `width` bits of a part, whose highest bit has the offset `start`.
    fileprivate mutating func insert(bits: UInt64, width: Int, at start: Int) {
        for index in 0..<width where bits >> (width - 1 - index) & 1 == 1 { insert(start + index) }
    }

    /// The part of `width` bits that begins at the offset `start`, which is that of its highest bit.
    fileprivate func bits(width: Int, at start: Int) -> UInt64 {
        var bits: UInt64 = 0
        for index in 0..<width { bits = bits << 1 | (contains(start + index) ? 1 : 0) }
        return bits
    }
}
