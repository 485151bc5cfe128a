public import NIOCore

/// An RTP packet (RFC 3550 5.1).
///
/// Parsing copies nothing: the payload and the header extensions are slices of the datagram.
public struct RTPPacket: Hashable, Sendable {
    /// The payload type, 0 to 127; a higher value loses its top bit when written.
    public var payloadType: UInt8
    public var marker: Bool
    public var sequenceNumber: UInt16
    /// The timestamp in units of the payload type's clock rate.
    public var timestamp: UInt32
    public var ssrc: UInt32
    /// The contributing sources; the first 15 are written.
    public var csrcs: [UInt32]
    public var extensions: RTPHeaderExtensions
    /// The payload without padding.
    public var payload: ByteBuffer
    /// The number of bytes of padding that came with the packet, or are written after the payload (with a count byte);
    /// zero unless the packet is a bandwidth probe.
    public var paddingLength: UInt8

    /// Bytes of the fixed header.
    public static let fixedHeaderSize = 12

    public init(
        payloadType: UInt8, marker: Bool = false, sequenceNumber: UInt16, timestamp: UInt32, ssrc: UInt32,
        csrcs: [UInt32] = [], extensions: RTPHeaderExtensions = RTPHeaderExtensions(), payload: ByteBuffer,
        paddingLength: UInt8 = 0
    ) {
        self.payloadType = payloadType
        self.marker = marker
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.ssrc = ssrc
        self.csrcs = csrcs
        self.extensions = extensions
        self.payload = payload
        self.paddingLength = paddingLength
    }

    /// Parses the packet that `datagram`'s readable bytes hold.
    public init(parsing datagram: ByteBuffer) throws(RTPError) {
        var rest = datagram
        guard
            let (flags, type, sequenceNumber, timestamp, ssrc) = rest.readMultipleIntegers(
                as: (UInt8, UInt8, UInt16, UInt32, UInt32).self)
        else {
            throw .truncated(structure: "RTP header", needed: Self.fixedHeaderSize, available: datagram.readableBytes)
        }
        guard flags >> 6 == 2 else { throw .unsupportedVersion(flags >> 6) }
        self.payloadType = type & 0x7F
        self.marker = type & 0x80 != 0
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.ssrc = ssrc

        csrcs = []
        let csrcCount = Int(flags & 0x0F)
        if csrcCount > 0 {
            csrcs.reserveCapacity(csrcCount)
            for _ in 0..<csrcCount { csrcs.append(try rest.read(of: "RTP list of contributing sources")) }
        }
        if flags & 0x10 != 0 {
            let profile = try rest.read(UInt16.self, of: "RTP header extension")
            let wordCount = try rest.read(UInt16.self, of: "RTP header extension")
            let bytes = try rest.read(bytes: Int(wordCount) * 4, of: "RTP header extension")
            extensions = RTPHeaderExtensions(profile: profile, bytes: bytes)
        } else {
            extensions = RTPHeaderExtensions()
        }
        paddingLength = flags & 0x20 != 0 ? try rest.removePadding() : 0
        payload = rest
    }

    /// Bytes in front of the payload: the fixed header, contributing sources and header extensions.
    public var headerSize: Int { Self.fixedHeaderSize + 4 * min(csrcs.count, 15) + extensions.encodedSize }

    /// Bytes of the whole packet.
    public var encodedSize: Int { headerSize + payload.readableBytes + Int(paddingLength) }

    /// The packet's bytes in a buffer of their own.
    public func encode() -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: encodedSize)
        encode(into: &buffer)
        return buffer
    }

    /// Appends the packet's bytes to `buffer`.
    public func encode(into buffer: inout ByteBuffer) {
        buffer.reserveCapacity(minimumWritableBytes: encodedSize)
        let csrcCount = min(csrcs.count, 15)
        let flags =
            0x80 | (paddingLength > 0 ? 0x20 : 0) | (extensions.isEmpty ? 0 : 0x10)
            | UInt8(truncatingIfNeeded: csrcCount)
        let type = (marker ? 0x80 : 0) | (payloadType & 0x7F)
        // The buffer's own checks cost more than the bytes: the fewer writes, the better.
        let start = UInt64(flags) << 56 | UInt64(type) << 48 | UInt64(sequenceNumber) << 32 | UInt64(timestamp)
        buffer.writeInteger(start)
        buffer.writeInteger(ssrc)
        for csrc in csrcs.prefix(csrcCount) { buffer.writeInteger(csrc) }
        extensions.encode(into: &buffer)
        buffer.writeImmutableBuffer(payload)
        if paddingLength > 0 {
            buffer.writeRepeatingByte(0, count: Int(paddingLength) - 1)
            buffer.writeInteger(paddingLength)
        }
    }
}
