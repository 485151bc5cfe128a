import NIOCore

/// The elements of header extensions that are written when a packet leaves, by the identifiers that a session has for
/// them. Forward error correction treats their values as zeros, at both ends: libwebrtc does so, and a recovered packet
/// has zeros there.
public struct MutableExtensions: Hashable, Sendable {
    public var transportSequenceNumber: UInt8?
    public var absoluteSendTime: UInt8?

    public init(transportSequenceNumber: UInt8? = nil, absoluteSendTime: UInt8? = nil) {
        self.transportSequenceNumber = transportSequenceNumber
        self.absoluteSendTime = absoluteSendTime
    }

    /// The places of the values in a packet, counted from the end of its fixed header.
    struct Ranges: Sendable {
        var transportSequenceNumber: Range<Int>?
        var absoluteSendTime: Range<Int>?
    }

    /// The places of the values in a packet. Of several elements with one identifier the first counts, as for those who
    /// read it.
    func ranges(in packet: ByteBuffer) -> Ranges {
        var found = Ranges()
        guard transportSequenceNumber != nil || absoluteSendTime != nil,
            let extensions = RTPHeaderExtensions(ofPacket: packet),
            let flags = packet.getInteger(at: packet.readerIndex, as: UInt8.self)
        else { return found }
        // Behind the list of contributing sources, the profile and the length.
        let start = 4 * Int(flags & 0x0F) + 4
        extensions.scan { id, range in
            let range = (range.lowerBound + start)..<(range.upperBound + start)
            if id == transportSequenceNumber {
                found.transportSequenceNumber = found.transportSequenceNumber ?? range
            } else if id == absoluteSendTime {
                found.absoluteSendTime = found.absoluteSendTime ?? range
            }
            return true
        }
        return found
    }
}
