import NIOCore

/// The exclusive or of packets as forward error correction has it: of the flags, the lengths and the timestamps, and of
/// all bytes behind the fixed headers, shorter packets filled up with zeros (draft-ietf-payload-flexible-fec-scheme-03,
/// section 6.2; the same as RFC 5109, section 8).
struct PacketParity {
    /// The fields P, X, CC, M and PT.
    private(set) var flags: UInt16 = 0
    private(set) var length: UInt16 = 0
    private(set) var timestamp: UInt32 = 0
    /// The data after the fixed headers, padded to the longest.
    private(set) var bytes: [UInt8] = []
    /// The size of the longest packet behind its fixed header.
    private var longest = 0

    /// Makes an empty parity.
    init() {}

    /// Makes the parity of a FlexFEC packet: `bytes` is its payload after the header.
    init(_ header: FlexFECHeader, bytes: ByteBuffer) {
        flags = header.flags
        length = header.length
        timestamp = header.timestamp
        self.bytes = Array(bytes.readableBytesView)
        longest = self.bytes.count
    }

    /// Starts again, keeping the memory.
    mutating func reset() {
        flags = 0
        length = 0
        timestamp = 0
        longest = 0
        bytes.removeAll(keepingCapacity: true)
    }

    /// Adds a whole packet. The header extensions that are written when a packet leaves count as zeros, because the
    /// parity was made before. Bytes that are no RTP packet are ignored.
    mutating func add(_ packet: ByteBuffer, zeroing mutable: MutableExtensions.Ranges) {
        addHeader(packet)
        addBody(packet, zeroing: mutable)
    }

    /// Adds a packet without what lies behind its fixed header.
    mutating func addHeader(_ packet: ByteBuffer) {
        let start = packet.readerIndex
        guard let body = Self.bodySize(packet), let flags = packet.getInteger(at: start, as: UInt16.self),
            let timestamp = packet.getInteger(at: start + 4, as: UInt32.self)
        else { return }
        self.flags ^= flags & FlexFECHeader.flagMask
        self.timestamp ^= timestamp
        length ^= UInt16(truncatingIfNeeded: body)
        longest = max(longest, body)
    }

    /// Adds what lies behind a packet's fixed header.
    mutating func addBody(_ packet: ByteBuffer, zeroing mutable: MutableExtensions.Ranges) {
        guard let body = Self.bodySize(packet) else { return }
        if bytes.count < body { bytes.append(contentsOf: repeatElement(0, count: body - bytes.count)) }
        packet.withUnsafeReadableBytes { source in
            bytes.withUnsafeMutableBytes { target in
                let source = UnsafeRawBufferPointer(rebasing: source[RTPPacket.fixedHeaderSize...])
                xor(source, into: target)
                // A second addition removes the bytes that count as zero.
                func remove(_ range: Range<Int>?) {
                    guard let range = range?.clamped(to: 0..<source.count) else { return }
                    xor(
                        UnsafeRawBufferPointer(rebasing: source[range]),
                        into: UnsafeMutableRawBufferPointer(rebasing: target[range]))
                }
                remove(mutable.transportSequenceNumber)
                remove(mutable.absoluteSendTime)
            }
        }
    }

    private static func bodySize(_ packet: ByteBuffer) -> Int? {
        let size = packet.readableBytes - RTPPacket.fixedHeaderSize
        return size >= 0 ? size : nil
    }

    /// True if the headers of all packets but one may make that of the one: it has no padding, and a payload behind its
    /// contributing sources and the beginning of its extensions, and is no longer than the longest of all.
    var isPossible: Bool {
        let (hasPadding, hasExtensions, sources) = (flags & 0x2000 != 0, flags & 0x1000 != 0, Int(flags >> 8 & 0xF))
        return !hasPadding && Int(length) > 4 * sources + (hasExtensions ? 4 : 0) && Int(length) <= longest
    }

    /// The packet whose parity this is, all others having been added; nil if that makes no sense.
    func packet(ssrc: UInt32, sequenceNumber: UInt16) -> ByteBuffer? {
        guard Int(length) <= bytes.count else { return nil }
        var packet = ByteBufferAllocator().buffer(capacity: RTPPacket.fixedHeaderSize + Int(length))
        packet.writeMultipleIntegers(0x8000 | flags & FlexFECHeader.flagMask, sequenceNumber, timestamp, ssrc)
        packet.writeBytes(bytes.prefix(Int(length)))
        return packet
    }
}

/// Adds bytes to as many or more others, eight at a time.
private func xor(_ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) {
    let count = min(source.count, target.count)
    let whole = count & ~7
    for offset in stride(from: 0, to: whole, by: 8) {
        let sum =
            source.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            ^ target.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        target.storeBytes(of: sum, toByteOffset: offset, as: UInt64.self)
    }
    for offset in whole..<count { target[offset] ^= source[offset] }
}
