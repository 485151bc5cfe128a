internal import MediaCore
internal import NIOCore

/// Writes a STUN message (RFC 8489) into one buffer, attribute by attribute.
struct STUNMessageBuilder {
    private(set) var buffer: ByteBuffer
    private let transactionID: STUNTransactionID

    /// The size of MESSAGE-INTEGRITY with its header.
    static let integritySize = 4 + HMACSHA1.size
    /// The size of FINGERPRINT with its header.
    static let fingerprintSize = 8

    /// A message without attributes.
    init(
        _ messageClass: STUNMessage.Class, method: UInt16 = STUNMessage.bindingMethod, transactionID: STUNTransactionID
    ) {
        self.transactionID = transactionID
        buffer = ByteBufferAllocator().buffer(capacity: 128)
        let bits = UInt16(messageClass.rawValue)
        buffer.writeInteger(
            method & 0x000F | (method & 0x0070) << 1 | (method & 0x0F80) << 2 | (bits & 1) << 4 | (bits & 2) << 7)
        buffer.writeInteger(UInt16(0))
        buffer.writeInteger(STUNMessage.magicCookie)
        buffer.writeInteger(transactionID.high)
        buffer.writeInteger(transactionID.low)
    }

    mutating func append(username: [UInt8]) {
        appendHeader(.username, length: username.count)
        buffer.writeBytes(username)
        pad(username.count)
    }

    mutating func append(priority: UInt32) {
        appendHeader(.priority, length: 4)
        buffer.writeInteger(priority)
    }

    mutating func append(_ role: STUNMessage.Role) {
        switch role {
        case .controlling(let tieBreaker):
            appendHeader(.iceControlling, length: 8)
            buffer.writeInteger(tieBreaker)
        case .controlled(let tieBreaker):
            appendHeader(.iceControlled, length: 8)
            buffer.writeInteger(tieBreaker)
        }
    }

    mutating func appendUseCandidate() {
        appendHeader(.useCandidate, length: 0)
    }

    mutating func append(mappedAddress: TransportAddress) {
        appendHeader(.xorMappedAddress, length: mappedAddress.isIPv6 ? 20 : 8)
        mappedAddress.writeXORMapped(to: &buffer, transactionID: transactionID)
    }

    /// ERROR-CODE without a phrase, which is for people only and would make the answer larger.
    mutating func append(errorCode: UInt16) {
        appendHeader(.errorCode, length: 4)
        buffer.writeInteger(UInt32(errorCode / 100) << 8 | UInt32(errorCode % 100))
    }

    mutating func append(unknownAttributes types: STUNMessage.InlineTypes) {
        appendHeader(.unknownAttributes, length: 2 * types.count)
        for index in 0..<types.count { buffer.writeInteger(types[index]) }
        pad(2 * types.count)
    }

    /// Appends a MESSAGE-INTEGRITY over the bytes so far (RFC 8489, section 14.5).
    mutating func appendIntegrity(key: HMACSHA1Key) {
        let count = buffer.readableBytes
        let length = UInt16(truncatingIfNeeded: count + Self.integritySize - STUNMessage.headerSize)
        guard let code = HMACSHA1(ofSTUN: buffer, upTo: count, headerLength: length, key: key) else { return }
        appendHeader(.messageIntegrity, length: HMACSHA1.size)
        code.write(to: &buffer)
    }

    /// The message with its FINGERPRINT (RFC 8489, section 14.7).
    mutating func finish() -> ByteBuffer {
        setLength(adding: Self.fingerprintSize)
        let checksum = CRC32.checksum(of: buffer) ^ STUNMessage.fingerprintMask
        appendHeader(.fingerprint, length: 4)
        buffer.writeInteger(checksum)
        return buffer
    }

    /// Returns the message without a FINGERPRINT.
    mutating func finishWithoutFingerprint() -> ByteBuffer {
        setLength(adding: 0)
        return buffer
    }

    private mutating func setLength(adding size: Int) {
        buffer.setInteger(
            UInt16(truncatingIfNeeded: buffer.readableBytes - STUNMessage.headerSize + size),
            at: buffer.readerIndex + 2)
    }

    private mutating func appendHeader(_ type: STUNAttributeType, length: Int) {
        buffer.writeInteger(type.rawValue)
        buffer.writeInteger(UInt16(truncatingIfNeeded: length))
    }

    private mutating func pad(_ length: Int) {
        buffer.writeRepeatingByte(0, count: -length & 3)
    }
}

extension STUNMessageBuilder {
    /// Returns the answer with its MESSAGE-INTEGRITY and FINGERPRINT, if it is not larger than the request: without a
    /// FINGERPRINT if that helps, else nil. A check as in RFC 8445, section 7.1 has 88 bytes or more, the largest
    /// success 76.
    mutating func finish(answering request: STUNMessage, key: HMACSHA1Key) -> ByteBuffer? {
        appendIntegrity(key: key)
        let spare = request.byteCount - buffer.readableBytes
        if spare >= Self.fingerprintSize { return finish() }
        return spare >= 0 ? finishWithoutFingerprint() : nil
    }
}
