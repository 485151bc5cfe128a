public import NIOCore

/// Makes RTP payloads from access units (RFC 6184).
///
/// Small consecutive NAL units, such as SPS and PPS, share a STAP-A. Large ones are cut into FU-A fragments of equal
/// size, except for a slightly smaller last one: a pacer spreads them evenly, and the kernel can send fragments that
/// leave together as the segments of one datagram (`UDP_SEGMENT`). The others are sent unchanged.
public struct H264Packetizer: Hashable, Sendable {
    /// The least `maximumPayloadSize`; smaller ones are taken for this.
    public static let minimumPayloadSize = 16

    public var mode: PacketizationMode
    /// The most bytes a payload may have: the path's MTU less all headers.
    public let maximumPayloadSize: Int

    /// Bytes of a FU-A before its fragment: FU indicator and FU header.
    private static let fragmentOverhead = 2
    /// Bytes of a STAP-A before its first unit, and before each unit.
    private static let aggregateOverhead = 1
    private static let aggregatedUnitOverhead = 2

    public init(mode: PacketizationMode, maximumPayloadSize: Int) {
        self.mode = mode
        self.maximumPayloadSize = max(maximumPayloadSize, Self.minimumPayloadSize)
    }

    /// The payloads that carry an access unit, in sending order. The caller sets the marker bit on the last.
    ///
    /// In mode 0 a NAL unit that is larger than the limit becomes a payload that is larger too, since that mode knows
    /// no fragments: the encoder has to make slices that fit. Units of types that RTP uses itself (0, 24 to 31) are
    /// left out.
    public func packetize(_ nalUnits: [NALUnit]) -> [ByteBuffer] {
        let units = nalUnits.filter(\.type.isCarriedByRTP)
        guard mode == .nonInterleaved else { return units.map(\.bytes) }
        var payloads: [ByteBuffer] = []
        var index = units.startIndex
        while index < units.endIndex {
            let end = endOfAggregate(units, from: index)
            if end - index > 1 {
                payloads.append(aggregate(units[index..<end]))
            } else if units[index].count <= maximumPayloadSize {
                payloads.append(units[index].bytes)
            } else {
                appendFragments(of: units[index], to: &payloads)
            }
            index = end
        }
        return payloads
    }

    /// Returns the end of the run of units that fit one STAP-A, at least one unit after `start`.
    private func endOfAggregate(_ units: [NALUnit], from start: Int) -> Int {
        var end = start
        var size = Self.aggregateOverhead
        while end < units.endIndex {
            let count = units[end].count
            size += Self.aggregatedUnitOverhead + count
            guard size <= maximumPayloadSize, count <= UInt16.max else { break }
            end += 1
        }
        return max(end, start + 1)
    }

    /// RFC 6184 5.7.1.
    private func aggregate(_ units: ArraySlice<NALUnit>) -> ByteBuffer {
        var payload = ByteBufferAllocator().buffer(
            capacity: units.reduce(Self.aggregateOverhead) { $0 + Self.aggregatedUnitOverhead + $1.count })
        let forbiddenBit = units.reduce(0 as UInt8) { $0 | $1.header & 0x80 }
        let referenceIDC = units.reduce(0 as UInt8) { max($0, $1.referenceIDC) }
        payload.writeInteger(forbiddenBit | referenceIDC << 5 | NALUnitType.aggregationSTAPA.rawValue)
        for unit in units {
            payload.writeInteger(UInt16(truncatingIfNeeded: unit.count))
            payload.writeImmutableBuffer(unit.bytes)
        }
        return payload
    }

    /// RFC 6184 5.8.
    private func appendFragments(of unit: NALUnit, to payloads: inout [ByteBuffer]) {
        var rest = unit.bytes
        let header = rest.readInteger(as: UInt8.self) ?? 0
        let indicator = header & 0xE0 | NALUnitType.fragmentationFUA.rawValue
        let room = maximumPayloadSize - Self.fragmentOverhead
        let count = (rest.readableBytes + room - 1) / room
        payloads.reserveCapacity(payloads.count + count)
        let share = (rest.readableBytes + count - 1) / count
        var start = FragmentHeader.startBit
        while let fragment = rest.readSlice(length: min(share, rest.readableBytes)), fragment.readableBytes > 0 {
            var payload = ByteBufferAllocator().buffer(capacity: Self.fragmentOverhead + fragment.readableBytes)
            let end: UInt8 = rest.readableBytes == 0 ? FragmentHeader.endBit : 0
            payload.writeInteger(indicator)
            payload.writeInteger(start | end | header & 0x1F)
            payload.writeImmutableBuffer(fragment)
            payloads.append(payload)
            start = 0
        }
    }
}

/// The second byte of a FU-A (RFC 6184 5.8): start bit, end bit, a reserved bit, and the NAL unit's type.
struct FragmentHeader {
    static let startBit: UInt8 = 0x80
    static let endBit: UInt8 = 0x40

    var rawValue: UInt8

    var isStart: Bool { rawValue & Self.startBit != 0 }
    var isEnd: Bool { rawValue & Self.endBit != 0 }
    var type: NALUnitType { NALUnitType(rawValue: rawValue & 0x1F) ?? .unspecified }
}

/// `packetization-mode`: which RTP payload structures a receiver takes (RFC 6184 5.4, 6).
public enum PacketizationMode: UInt8, Hashable, Sendable {
    /// A packet is one NAL unit.
    case singleNALUnit = 0
    /// Also aggregation (STAP-A) and fragmentation (FU-A), in decoding order.
    case nonInterleaved = 1
}
