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

    /// Calls `body` with the ranges of the values in a packet, counted from the end of its fixed header.
    func forEachRange(in packet: ByteBuffer, _ body: (Range<Int>) -> Void) {
        guard transportSequenceNumber != nil || absoluteSendTime != nil,
            let extensions = RTPHeaderExtensions(ofPacket: packet),
            let flags = packet.getInteger(at: packet.readerIndex, as: UInt8.self)
        else { return }
        // Behind the list of contributing sources, the profile and the length.
        let start = 4 * Int(flags & 0x0F) + 4
        extensions.scan { id, range in
            if id == transportSequenceNumber || id == absoluteSendTime {
                body((range.lowerBound + start)..<(range.upperBound + start))
            }
            return true
        }
    }
}
